/**
 * What earlier runs of a pipeline fetched, for conditional requests: which payload of an address is in the archive,
 * undamaged, and its validators. A payload that is missing or damaged is requested in full.
 */
import { Clock, Effect, FileSystem, Path } from "effect"
import type { Validators } from "../origins/conditional.ts"
import type { SourceRequest } from "../origins/origin.ts"
import type { Fetch } from "./fetch-list.ts"
import { fetchedBy } from "./interrupted-runs.ts"

/** An older payload is requested in full, so that a source that wrongly answers 304 is not trusted forever. */
const believedFor = 30 * 86_400_000

/** `Last-Modified` counts seconds: a payload that changed just before it was fetched may have changed again since. */
const settledAfter = 60_000

/** The validators for the next request for this payload; undefined if it has no usable validator. */
export const heldOf = (
  fetched: Pick<Fetch, "etag" | "last_modified" | "final_url" | "fetched_at" | "told">
): Validators | undefined => {
  const { etag, fetched_at, final_url, last_modified, told = {} } = fetched
  const age = last_modified === null ? Number.NaN : Date.parse(fetched_at) - Date.parse(last_modified)
  const isSettled = age > settledAfter
  if (etag === null && !isSettled) return undefined
  return { etag, last_modified: isSettled ? last_modified : null, final_url, told }
}

const hasValidator = (line: string) => line.includes('"etag":"') || line.includes('"last_modified":"')

const receivedAt = ({ fetched_at, received_at }: Fetch) => received_at ?? fetched_at

export const makeHeld = <E>(isWhole: (line: Fetch) => Effect.Effect<boolean, E>) => {
  const lines = new Map<string, Fetch>()

  /** Adds what these runs fetched: the newest payload of each address. A run whose list is missing adds nothing. */
  const learn = Effect.fnUntraced(function* (lists: string, runs: Iterable<string>) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    for (const run of [...runs].sort()) {
      const list = path.join(lists, `${run}.ndjson`)
      if (!(yield* fs.exists(list))) continue
      for (const line of yield* fetchedBy(list, hasValidator)) lines.set(line.url, line)
    }
  })

  /** The payload that makes this request conditional, with its validators. */
  const of = Effect.fnUntraced(function* ({ longest = Number.POSITIVE_INFINITY, url }: SourceRequest) {
    const line = lines.get(url)
    const held = line && heldOf(line)
    if (line === undefined || held === undefined || line.bytes > longest) return undefined
    const isYoung = Date.parse(receivedAt(line)) > (yield* Clock.currentTimeMillis) - believedFor
    return isYoung && (yield* isWhole(line)) ? { line, held } : undefined
  })

  /** If an address is requested again in the same run, its newest payload counts. */
  const renew = (line: Fetch) => {
    if (lines.has(line.url)) lines.set(line.url, line)
  }

  /** The line of a 304: the payload and everything that arrived with it are those of the earlier line. */
  const confirmed = ({ taken_from: _, ...line }: Fetch, now: Pick<Fetch, "run_id" | "days" | "fetched_at">): Fetch => ({
    ...line,
    ...now,
    status: 304,
    received_at: receivedAt(line)
  })
  return { learn, of, renew, confirmed }
}

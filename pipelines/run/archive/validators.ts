/** Conditional requests for payloads in the archive. A payload that is missing or damaged is requested in full. */
import path from "node:path"
import { Clock, Effect, FileSystem } from "effect"
import type { SourceRequest, Validators } from "../origins/origin.ts"
import type { Fetch } from "./fetch-list.ts"
import { readNetworkFetches } from "./interrupted-runs.ts"

/** An older payload is requested in full, so that a source that wrongly returns 304 is not trusted forever. */
const maxPayloadAge = 30 * 86_400_000

/** `Last-Modified` has whole seconds: a payload that changed just before it was fetched may have changed again since. */
const minModifiedAge = 60_000

/** Returns the validators for the next request for this payload; undefined if none is usable. */
export const selectValidators = (
  fetched: Pick<Fetch, "etag" | "last_modified" | "final_url" | "fetched_at" | "extra_values">
): Validators | undefined => {
  const { etag, fetched_at, final_url, last_modified, extra_values = {} } = fetched
  const age = last_modified === null ? Number.NaN : Date.parse(fetched_at) - Date.parse(last_modified)
  const isReliable = age > minModifiedAge
  if (etag === null && !isReliable) return undefined
  return { etag, last_modified: isReliable ? last_modified : null, final_url, extra_values }
}

const hasValidator = (line: string) => line.includes('"etag":"') || line.includes('"last_modified":"')

export const makeRevalidation = <E>(isIntact: (line: Fetch) => Effect.Effect<boolean, E>) => {
  const lines = new Map<string, Fetch>()

  /** Adds the newest payload of each address from these runs. Runs without a list add nothing. */
  const addRuns = Effect.fnUntraced(function* (lists: string, runs: Iterable<string>) {
    const fs = yield* FileSystem.FileSystem
    for (const run of [...runs].sort()) {
      const list = path.join(lists, `${run}.ndjson`)
      if (!(yield* fs.exists(list))) continue
      for (const line of yield* readNetworkFetches(list, hasValidator)) lines.set(line.url, line)
    }
  })

  const find = Effect.fnUntraced(function* ({ maxBytes = Number.POSITIVE_INFINITY, url }: SourceRequest) {
    const line = lines.get(url)
    const validators = line && selectValidators(line)
    if (line === undefined || validators === undefined || line.bytes > maxBytes) return undefined
    const age = (yield* Clock.currentTimeMillis) - Date.parse(line.received_at ?? line.fetched_at)
    return age < maxPayloadAge && (yield* isIntact(line)) ? { line, validators } : undefined
  })

  /** If an address is requested again in the same run, its newest payload is used. */
  const update = (line: Fetch) => {
    if (lines.has(line.url)) lines.set(line.url, line)
  }

  const confirm = (earlier: Fetch, current: Pick<Fetch, "run_id" | "days" | "fetched_at">): Fetch => {
    const { taken_from: _, ...line } = earlier
    return { ...line, ...current, status: 304, received_at: line.received_at ?? line.fetched_at }
  }
  return { addRuns, find, update, confirm }
}

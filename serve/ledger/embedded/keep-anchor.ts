/**
 * Keeps the anchor of a running server: written when the chain has grown, once a second at most, and at a clean stop, where
 * the head is logged in any case. A start holds the ledger to it, so that a ledger that has lost its end never replaces it.
 */
import { Clock, Effect, Option, Schedule, Schema } from "effect"
import { type Anchor, type AnchorPlace, Anchor as AnchorRecord } from "../anchor.ts"
import { unavailable } from "../errors.ts"
import { timestampOf } from "../moments.ts"
import { numberIn } from "./columns.ts"
import { advanceHead, chainProblem, type Head } from "./head.ts"
import type { LedgerFile } from "./ledger-file.ts"

const every = "1 second"

const isSame = (one: Head, { entries, hash, records }: Head) =>
  one.entries === entries && one.records === records && one.hash === hash

const told = ({ entries, hash, records }: Head) => `entry ${entries} and record ${records}, ${hash}`

/** The ledger is not the one that was anchored, or has lost its end. The anchor stays as it is. */
export class AnotherLedger extends Schema.TaggedError<AnotherLedger>()("AnotherLedger", {
  place: Schema.String,
  anchor: AnchorRecord,
  problem: Schema.String
}) {
  override get message() {
    const { anchor, place, problem } = this
    return `The ledger does not go through its anchor at ${place}, which was written at ${anchor.at} with ${told(anchor)}: ${problem}. Nothing was changed. Where you have restored a backup or moved the ledger, put this anchor aside and start again; else find out who has changed the ledger: docs/operations.md tells how.`
  }
}

const countYounger = `
  select (select coalesce(max(sequence), 0) from ledger.entry) as entries,
    (select coalesce(max(number), 0) from ledger.record) as records`

/** Whether the chain goes through the anchor. From where the chain was followed to, which `ledger verify` checks. */
const holdTo = Effect.fnUntraced(function* ({ sqlite }: LedgerFile["Service"], place: AnchorPlace, anchor: Anchor) {
  const found = yield* Effect.try({
    try: () => ({ problem: chainProblem(sqlite, anchor), end: sqlite.all(countYounger)[0] }),
    catch: unavailable("be held to its anchor")
  })
  if (found.problem !== undefined) {
    return yield* new AnotherLedger({ place: place.name, anchor, problem: found.problem })
  }
  const entries = numberIn(found.end, "entries") - anchor.entries
  const records = numberIn(found.end, "records") - anchor.records
  if (entries + records === 0) return
  yield* Effect.logWarning(
    `${entries} entries and ${records} records of accounts, keys and payments are younger than the anchor of ${anchor.at}: it is unknown whether a server or a command wrote them. They are anchored from now on.`
  )
})

export const keepAnchor = Effect.fn("Anchor.keep")(function* (
  file: LedgerFile["Service"],
  place: Option.Option<AnchorPlace>
) {
  const { sqlite, thread } = file
  const known = Option.isSome(place) ? yield* place.value.read : Option.none<Anchor>()
  if (Option.isSome(place) && Option.isNone(known)) {
    yield* Effect.logWarning(
      `There is no anchor at ${place.value.name} yet: what is in the ledger now is taken as it is.`
    )
  }
  if (Option.isSome(place) && Option.isSome(known)) yield* holdTo(file, place.value, known.value)

  let anchored: Head | undefined = Option.getOrUndefined(known)
  let isFailing = false
  const write = Effect.fnUntraced(function* (head: Head) {
    if (Option.isNone(place) || head.hash === "" || (anchored !== undefined && isSame(anchored, head))) {
      isFailing = false
      return
    }
    yield* place.value.write({ ...head, at: timestampOf(yield* Clock.currentTimeMillis) })
    anchored = head
    isFailing = false
  })
  /** Told once, until it works again. */
  const warn = (error: { readonly message: string }) =>
    Effect.suspend(() => {
      const isFirst = !isFailing
      isFailing = true
      return isFirst
        ? Effect.logWarning(`${error.message}. Charges go on; what comes now is not anchored.`)
        : Effect.void
    })

  let seen = -1
  const look = Effect.suspend(() => {
    const commits = sqlite.commits()
    if (commits === seen && !isFailing) return Effect.void
    seen = commits
    return Effect.tryPromise({
      try: () => thread.run(new URL("./head.ts", import.meta.url).href, advanceHead),
      catch: unavailable("follow its chain")
    }).pipe(Effect.flatMap(write))
  }).pipe(Effect.catch(warn))

  yield* Effect.addFinalizer(() =>
    Effect.try({ try: () => advanceHead(sqlite), catch: unavailable("follow its chain") }).pipe(
      Effect.tap((head) => Effect.logInfo(`The ledger ends at ${told(head)}`)),
      Effect.flatMap(write),
      Effect.catch(warn)
    )
  )
  if (Option.isSome(place)) yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(every)))
})

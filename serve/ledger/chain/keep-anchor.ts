/**
 * Maintains the anchor of a running server: writes it when the chain has grown, at most once a second, and at a clean
 * stop, which also logs the head. A start first checks the ledger against the anchor, so a truncated ledger, or one that
 * cannot be opened, never replaces the anchor.
 */
import { Clock, Effect, Option, Schedule, Schema } from "effect"
import type { LedgerUnavailable } from "../errors.ts"
import { timestampOf } from "../utc-calendar.ts"
import { type Anchor, type AnchorPlace, Anchor as AnchorRecord } from "./anchor.ts"
import { type Head, isSameHead } from "./chain.ts"

/** The chain of the whole ledger, in any store. */
export interface Chain {
  /**
   * Compares the chain with an anchor. `problem`: why the chain does not contain the anchor. Otherwise, `entries` and
   * `records` are the numbers of newer links. The chain is followed only between the anchor and the stored head, so only
   * a verification detects a change in an older part.
   */
  readonly compareWith: (
    anchor: Head
  ) => Effect.Effect<Omit<Head, "hash"> & { readonly problem: string | undefined }, LedgerUnavailable>
  /** Follows the chain to its end, and stores the new head. */
  readonly advance: Effect.Effect<Head, LedgerUnavailable>
  /** Like `advance`, but runs at a clean stop. */
  readonly advanceAtStop: Effect.Effect<Head, LedgerUnavailable>
}

const anchorInterval = "1 second"
/** Without an anchor, the head is still advanced, so that a stop has few links left to hash. */
const intervalWithoutAnchor = "1 minute"

const formatHead = ({ entries, hash, records }: Head) => `entry ${entries} and record ${records}, ${hash}`

/** The ledger is not the one that was anchored, or was truncated or changed. The anchor stays unchanged. */
class AnchorMismatch extends Schema.TaggedError<AnchorMismatch>()("AnchorMismatch", {
  place: Schema.String,
  anchor: AnchorRecord,
  problem: Schema.String
}) {
  override get message() {
    const { anchor, place, problem } = this
    return `The chain of the ledger does not pass through its anchor at ${place}, which was written at ${anchor.at} with ${formatHead(anchor)}: ${problem}. Nothing was changed. If you have restored a backup or moved the ledger, move this anchor away and start again. Otherwise the ledger was changed: docs/operations.md describes what to do.`
  }
}

/** Trusts the stored head, which `ledger verify` checks. */
const checkAgainstAnchor = Effect.fnUntraced(function* (chain: Chain, place: AnchorPlace, anchor: Anchor) {
  const { problem, ...newer } = yield* chain.compareWith(anchor)
  if (problem !== undefined) return yield* new AnchorMismatch({ place: place.name, anchor, problem })
  if (newer.entries + newer.records === 0) return
  yield* Effect.logWarning(
    `${newer.entries} entries and ${newer.records} records of accounts, keys and payments are newer than the anchor of ${anchor.at}: it is unknown whether a server or a command wrote them. They are anchored from now on.`
  )
})

/** Checks the ledger against its anchor, opens it, and keeps its head and the anchor up to date until the scope ends. */
export const keepAnchor = Effect.fn("Anchor.keep")(function* <A, E, R>(
  chain: Chain,
  place: Option.Option<AnchorPlace>,
  open: Effect.Effect<A, E, R>
) {
  const hasPlace = Option.isSome(place)
  const stored = Option.isSome(place) ? yield* place.value.read : Option.none<Anchor>()
  if (Option.isSome(place)) {
    yield* Option.match(stored, {
      onSome: (anchor) => checkAgainstAnchor(chain, place.value, anchor),
      onNone: () =>
        Effect.logWarning(
          `There is no anchor at ${place.value.name} yet: the current contents of the ledger are accepted without a check.`
        )
    })
  }

  let anchored: Head | undefined = Option.getOrUndefined(stored)
  let isFailing = false
  const write = Effect.fnUntraced(function* (head: Head) {
    if (Option.isSome(place) && head.hash !== "" && (anchored === undefined || !isSameHead(anchored, head))) {
      const { entries, hash, records } = head
      yield* place.value.write({ entries, records, hash, at: timestampOf(yield* Clock.currentTimeMillis) })
      anchored = head
    }
    isFailing = false
  })
  /** Logs only the first of consecutive failures. */
  const warn = (consequence: string) => (error: { readonly message: string }) =>
    Effect.suspend(() => {
      const isFirst = !isFailing
      isFailing = true
      return isFirst ? Effect.logWarning(`${error.message}. ${consequence}.`) : Effect.void
    })

  const update = Effect.flatMap(chain.advance, write).pipe(
    Effect.catch(warn(hasPlace ? "Charges continue; new entries are not anchored" : "Charges continue"))
  )
  const finish = chain.advanceAtStop.pipe(
    Effect.tap((head) => Effect.logInfo(`The ledger ends at ${formatHead(head)}`)),
    Effect.flatMap(write),
    Effect.catch(warn(hasPlace ? "The anchor was not updated" : "The head was not logged"))
  )
  let isOpen = false
  // before the ledger is opened, so that this finalizer runs after the last charges are written
  yield* Effect.addFinalizer(() => (isOpen ? finish : Effect.void))
  const ledger = yield* open
  isOpen = true
  yield* Effect.forkScoped(Effect.repeat(update, Schedule.spaced(hasPlace ? anchorInterval : intervalWithoutAnchor)))
  return ledger
})

/**
 * Maintains the anchor of a running server: writes it when the chain has grown, at most once a second, and at a clean
 * stop, which always logs the head. A start first checks the ledger against the anchor, so a ledger that has lost its
 * end, or that cannot be opened, never replaces the anchor.
 */
import { Clock, Effect, Option, Schedule, Schema } from "effect"
import type { LedgerUnavailable } from "../errors.ts"
import { timestampOf } from "../utc-calendar.ts"
import { type Anchor, type AnchorPlace, Anchor as AnchorRecord } from "./anchor.ts"
import { type Head, isSameHead } from "./chain.ts"

/** The chain of the whole ledger, in any store. */
export interface Chain {
  /**
   * Why the chain does not pass through an anchor, and how many links are newer if it does. The chain is followed only
   * between the anchor and the stored head, so only a verification detects a change in an older part.
   */
  readonly compareWith: (
    anchor: Head
  ) => Effect.Effect<Omit<Head, "hash"> & { readonly problem: string | undefined }, LedgerUnavailable>
  /** Follows the chain to its end, and stores the new head. */
  readonly advance: Effect.Effect<Head, LedgerUnavailable>
  /** The same at a clean stop. */
  readonly end: Effect.Effect<Head, LedgerUnavailable>
}

const anchorInterval = "1 second"
/** Without an anchor, the chain is followed so that a stop has little left to follow. */
const intervalWithoutAnchor = "1 minute"

const formatHead = ({ entries, hash, records }: Head) => `entry ${entries} and record ${records}, ${hash}`

/** The ledger is not the one that was anchored, or has lost its end. The anchor stays unchanged. */
class AnotherLedger extends Schema.TaggedError<AnotherLedger>()("AnotherLedger", {
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
const requireAnchor = Effect.fnUntraced(function* (chain: Chain, place: AnchorPlace, anchor: Anchor) {
  const { problem, ...younger } = yield* chain.compareWith(anchor)
  if (problem !== undefined) return yield* new AnotherLedger({ place: place.name, anchor, problem })
  if (younger.entries + younger.records === 0) return
  yield* Effect.logWarning(
    `${younger.entries} entries and ${younger.records} records of accounts, keys and payments are younger than the anchor of ${anchor.at}: it is unknown whether a server or a command wrote them. They are anchored from now on.`
  )
})

export const keepAnchor = Effect.fn("Anchor.keep")(function* <A, E, R>(
  chain: Chain,
  place: Option.Option<AnchorPlace>,
  open: Effect.Effect<A, E, R>
) {
  const stored = Option.isSome(place) ? yield* place.value.read : Option.none<Anchor>()
  if (Option.isSome(place)) {
    yield* Option.match(stored, {
      onSome: (anchor) => requireAnchor(chain, place.value, anchor),
      onNone: () =>
        Effect.logWarning(
          `There is no anchor at ${place.value.name} yet: the present content of the ledger is accepted unchecked.`
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
  const warn = (error: { readonly message: string }) =>
    Effect.suspend(() => {
      const isFirst = !isFailing
      isFailing = true
      return isFirst
        ? Effect.logWarning(
            `${error.message}. Charges continue${Option.isSome(place) ? "; new entries are not anchored" : ""}.`
          )
        : Effect.void
    })

  const update = Effect.flatMap(chain.advance, write).pipe(Effect.catch(warn))
  const end = chain.end.pipe(
    Effect.tap((head) => Effect.logInfo(`The ledger ends at ${formatHead(head)}`)),
    Effect.flatMap(write),
    Effect.catch(warn)
  )
  let isOpen = false
  // before the ledger is opened, so that this finalizer runs after the last charges are written
  yield* Effect.addFinalizer(() => (isOpen ? end : Effect.void))
  const ledger = yield* open
  isOpen = true
  yield* Effect.forkScoped(
    Effect.repeat(update, Schedule.spaced(Option.isSome(place) ? anchorInterval : intervalWithoutAnchor))
  )
  return ledger
})

/**
 * Keeps the anchor of a running server: written when the chain has grown, once a second at most, and at a clean stop, where
 * the head is logged in any case. A start holds the ledger to it before it opens the ledger: one that has lost its end, or that
 * cannot be opened, never replaces it.
 */
import { Clock, Effect, Option, Schedule, Schema } from "effect"
import { type Anchor, type AnchorPlace, Anchor as AnchorRecord } from "./anchor.ts"
import type { LedgerUnavailable } from "./errors.ts"
import { type Head, isSame } from "./head.ts"
import { timestampOf } from "./moments.ts"

/** The chain of the whole ledger, wherever that is kept. */
export interface Chain {
  /**
   * Why the chain does not go through an anchor, or undefined where it does, and how much is younger. It is followed between
   * the anchor and where it was followed to before: so an older part that is changed shows in a verification alone.
   */
  readonly holdTo: (
    anchor: Head
  ) => Effect.Effect<
    { readonly problem: string } | { readonly problem: undefined; readonly entries: number; readonly records: number },
    LedgerUnavailable
  >
  /** Follows the chain to its end, and keeps where it has arrived. */
  readonly advance: Effect.Effect<Head, LedgerUnavailable>
  /** The same at a clean stop. */
  readonly end: Effect.Effect<Head, LedgerUnavailable>
}

const every = "1 second"
/** Without an anchor the chain is followed so that a stop has little left to follow. */
const everyWithoutAnchor = "1 minute"

const headText = ({ entries, hash, records }: Head) => `entry ${entries} and record ${records}, ${hash}`

/** The ledger is not the one that was anchored, or has lost its end. The anchor stays as it is. */
export class AnotherLedger extends Schema.TaggedError<AnotherLedger>()("AnotherLedger", {
  place: Schema.String,
  anchor: AnchorRecord,
  problem: Schema.String
}) {
  override get message() {
    const { anchor, place, problem } = this
    return `The ledger does not go through its anchor at ${place}, which was written at ${anchor.at} with ${headText(anchor)}: ${problem}. Nothing was changed. If you have restored a backup or moved the ledger, move this anchor away and start again. Otherwise somebody has changed the ledger: docs/operations.md describes what to do.`
  }
}

/** From where the chain was followed to, which `ledger verify` checks. */
const holdTo = Effect.fnUntraced(function* (chain: Chain, place: AnchorPlace, anchor: Anchor) {
  const found = yield* chain.holdTo(anchor)
  if (found.problem !== undefined) {
    return yield* new AnotherLedger({ place: place.name, anchor, problem: found.problem })
  }
  if (found.entries + found.records === 0) return
  yield* Effect.logWarning(
    `${found.entries} entries and ${found.records} records of accounts, keys and payments are younger than the anchor of ${anchor.at}: it is unknown whether a server or a command wrote them. They are anchored from now on.`
  )
})

export const keepAnchorOf = Effect.fn("Anchor.keep")(function* <A, E, R>(
  chain: Chain,
  place: Option.Option<AnchorPlace>,
  open: Effect.Effect<A, E, R>
) {
  const known = Option.isSome(place) ? yield* place.value.read : Option.none<Anchor>()
  if (Option.isSome(place) && Option.isNone(known)) {
    yield* Effect.logWarning(
      `There is no anchor at ${place.value.name} yet: what is in the ledger now is taken as it is.`
    )
  }
  if (Option.isSome(place) && Option.isSome(known)) yield* holdTo(chain, place.value, known.value)

  let anchored: Head | undefined = Option.getOrUndefined(known)
  let isFailing = false
  const write = Effect.fnUntraced(function* (head: Head) {
    if (Option.isSome(place) && head.hash !== "" && (anchored === undefined || !isSame(anchored, head))) {
      yield* place.value.write({
        entries: head.entries,
        records: head.records,
        hash: head.hash,
        at: timestampOf(yield* Clock.currentTimeMillis)
      })
      anchored = head
    }
    isFailing = false
  })
  /** Told once, until it works again. */
  const warn = (error: { readonly message: string }) =>
    Effect.suspend(() => {
      const isFirst = !isFailing
      isFailing = true
      return isFirst
        ? Effect.logWarning(
            `${error.message}. Charges go on${Option.isSome(place) ? "; what comes now is not anchored" : ""}.`
          )
        : Effect.void
    })

  const look = Effect.flatMap(chain.advance, write).pipe(Effect.catch(warn))
  const end = chain.end.pipe(
    Effect.tap((head) => Effect.logInfo(`The ledger ends at ${headText(head)}`)),
    Effect.flatMap(write),
    Effect.catch(warn)
  )
  let isOpen = false
  // before the ledger is opened, so that it runs after the last charges are written
  yield* Effect.addFinalizer(() => (isOpen ? end : Effect.void))
  const opened = yield* open
  isOpen = true
  yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(Option.isSome(place) ? every : everyWithoutAnchor)))
  return opened
})

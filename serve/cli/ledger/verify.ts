/** `larder-serve ledger verify` */
import path from "node:path"
import { Effect, Option, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { Administration, type Anchor, anchorPlace, placeProblem, usdOf } from "../../ledger/index.ts"
import { ledgerAnchorSetting } from "../../settings.ts"
import { json, print, withLedger } from "../flags.ts"

class LedgerDoesNotAddUp extends Schema.TaggedError<LedgerDoesNotAddUp>()("LedgerDoesNotAddUp", {
  problems: Schema.Array(Schema.String)
}) {
  override get message() {
    return `The ledger does not add up. Nothing was changed; docs/operations.md explains how to restore it.\n${this.problems.map((problem) => `- ${problem}`).join("\n")}`
  }
}

class NoAnchor extends Schema.TaggedError<NoAnchor>()("NoAnchor", { place: Schema.String }) {
  override get message() {
    return `There is no anchor at ${this.place}: no server has written one yet, or it was moved.`
  }
}

const anchor = Flag.String("anchor").pipe(
  Flag.withMetavar("PLACE"),
  Flag.withDescription(
    "Compare the ledger with the anchor in this file or at this address; by default with LARDER_LEDGER_ANCHOR"
  ),
  Flag.filterMap(
    (text) => {
      const place = /^https?:\/\//.test(text) ? text : path.resolve(text)
      return placeProblem(place) === undefined ? Option.some(Redacted.make(place)) : Option.none()
    },
    () => "a file, or https://…"
  ),
  Flag.optional
)

const readAnchor = Effect.fnUntraced(function* (asked: Option.Option<Redacted.Redacted>) {
  const setting = yield* ledgerAnchorSetting
  const place = Option.map(
    Option.orElse(asked, () => setting),
    anchorPlace
  )
  if (Option.isNone(place)) return undefined
  const found = yield* place.value.read
  return Option.isSome(found) ? found.value : yield* new NoAnchor({ place: place.value.name })
})

const heldTo = (anchor: Anchor, younger: { readonly entries: number; readonly records: number }) => [
  `It contains the anchor of ${anchor.at}, at entry ${anchor.entries} and record ${anchor.records}.`,
  younger.entries + younger.records === 0
    ? "Nothing is newer than the anchor."
    : `Not covered, because newer than the anchor: ${younger.entries} entries, ${younger.records} records of accounts, keys and payments.`,
  "The chain does not cover people, sign-ins, invitations, cards, recharge settings, what the console shows of refunds and disputes (their credits are entries), and the log of requests with its counts."
]

export const verify = Command.make(
  "verify",
  { json, anchor },
  Effect.fn(function* ({ anchor: asked, json }) {
    const anchor = yield* readAnchor(asked)
    const found = yield* Administration.use((ledger) => ledger.verify(anchor === undefined ? {} : { anchor }))
    const { accounts, balance_credits, entries, keys, problems, younger_than_anchor } = found
    const counted = `${entries} entries, ${accounts} accounts, ${keys} keys, ${usdOf(balance_credits)} USD in all balances.`
    const held = anchor === undefined || younger_than_anchor === undefined ? [] : heldTo(anchor, younger_than_anchor)
    if (json || problems.length === 0) yield* print(json, found, [`The ledger adds up: ${counted}`, ...held])
    if (problems.length > 0) return yield* new LedgerDoesNotAddUp({ problems })
  }, withLedger)
).pipe(Command.withDescription("Check every entry, balance and budget; exits with 1 and lists what is wrong"))

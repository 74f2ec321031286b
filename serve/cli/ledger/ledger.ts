/** `larder-serve ledger export|usage|verify|backup|migrate` */
import path from "node:path"
import { Day, daysBefore } from "@larder/schemas"
import { Clock, Effect, Option, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import {
  Administration,
  anchorPlace,
  findPlaceProblem,
  moveToPostgres,
  usdOf,
  type Verification
} from "../../ledger/index.ts"
import { homeSetting, ledgerAnchorSetting, ledgerUrlSetting } from "../../settings.ts"
import { ledgerDirectoryIn } from "../control/reach.ts"
import { accountFlag, formatTable, jsonOutputFlag, parsedFlag, print, withLedger } from "../flags.ts"
import { exportEntries } from "./export.ts"

const dayFlag = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("DAY"),
    Flag.withDescription(description),
    Flag.withSchema(Day),
    Flag.optional
  )

const usage = Command.make(
  "usage",
  {
    account: accountFlag,
    from: dayFlag("from", "First day in UTC; by default a year before the last day"),
    to: dayFlag("to", "Last day in UTC; by default today"),
    json: jsonOutputFlag
  },
  Effect.fn(function* ({ account, from, json, to }) {
    const today = new Date(yield* Clock.currentTimeMillis).toISOString().slice(0, 10)
    const last = Option.getOrElse(to, () => today)
    const first = Option.getOrElse(from, () => daysBefore(last, 365))
    const days = yield* Administration.use((ledger) => ledger.usage({ account_id: account, from: first, to: last }))
    const rows = days.map(({ calls, credits, day, endpoint, key_id }) => {
      return [day, key_id, endpoint, String(calls), `${usdOf(credits)} USD`]
    })
    const header = ["day", "key", "endpoint", "calls", "charged"]
    const emptyText = `Account ${account} was not charged for any call from ${first} to ${last}.`
    yield* print(json, days, rows.length === 0 ? [emptyText] : formatTable([header, ...rows]))
  }, withLedger)
).pipe(Command.withDescription("Calls and credits of an account per day, key and endpoint"))

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

const anchorFlag = parsedFlag(
  "anchor",
  "Compare the ledger with the anchor in this file or at this address; by default with LARDER_LEDGER_ANCHOR",
  {
    metavar: "PLACE",
    parse: (text) => {
      const place = /^https?:\/\//.test(text) ? text : path.resolve(text)
      return findPlaceProblem(place) === undefined ? Redacted.make(place) : undefined
    },
    expected: "a file, or https://…"
  }
).pipe(Flag.optional)

const readAnchor = Effect.fnUntraced(function* (flag: Option.Option<Redacted.Redacted>) {
  const setting = Option.isSome(flag) ? flag : yield* ledgerAnchorSetting
  if (Option.isNone(setting)) return undefined
  const place = anchorPlace(setting.value)
  const anchor = yield* place.read
  return Option.isSome(anchor) ? anchor.value : yield* new NoAnchor({ place: place.name })
})

const describeTotals = ({ accounts, balance_credits, entries, keys }: Omit<Verification, "problems">) =>
  `${entries} entries, ${accounts} accounts, ${keys} keys, ${usdOf(balance_credits)} USD in all balances`

const verify = Command.make(
  "verify",
  { json: jsonOutputFlag, anchor: anchorFlag },
  Effect.fn(function* ({ anchor: flag, json }) {
    const anchor = yield* readAnchor(flag)
    const result = yield* Administration.use((ledger) => ledger.verify(anchor === undefined ? {} : { anchor }))
    const { problems, younger_than_anchor: newer } = result
    if (json || problems.length === 0) {
      const aboutAnchor = anchor !== undefined &&
        newer !== undefined && [
          `It contains the anchor of ${anchor.at}, at entry ${anchor.entries} and record ${anchor.records}.`,
          newer.entries + newer.records === 0
            ? "Nothing is newer than the anchor."
            : `Not covered, because newer than the anchor: ${newer.entries} entries, ${newer.records} records of accounts, keys and payments.`,
          "The chain does not cover people, sessions, invitations, cards, recharge settings, what the console shows of refunds and disputes (their credits are entries), and the log of requests with its counts."
        ]
      yield* print(json, result, [`The ledger adds up: ${describeTotals(result)}.`, ...(aboutAnchor || [])])
    }
    if (problems.length > 0) return yield* new LedgerDoesNotAddUp({ problems })
  }, withLedger)
).pipe(
  Command.withDescription("Check every entry, balance and budget; exits with 1 if something is wrong, and lists it")
)

const backup = Command.make(
  "backup",
  {
    to: Flag.String("to").pipe(Flag.withMetavar("FILE"), Flag.withDescription("File to write; it must not exist yet")),
    json: jsonOutputFlag
  },
  Effect.fn(function* ({ json, to }) {
    const written = yield* Administration.use((ledger) => ledger.backup({ file: path.resolve(to) }))
    const { bytes, entries, file } = written
    yield* print(json, written, [
      `${file} contains the ledger with ${entries} entries, and the console's data (${bytes} bytes).`,
      "To restore it, copy it into an empty $LARDER_HOME/ledger, as ledger.sqlite."
    ])
  }, withLedger)
).pipe(
  Command.withDescription(
    "Write a copy of the ledger and of the console's data as they are now, even while the server runs"
  )
)

class NoTarget extends Schema.TaggedError<NoTarget>()("NoTarget", {}) {
  override get message() {
    return "Set LARDER_LEDGER_URL to the PostgreSQL database for the ledger, such as postgres://user:password@host/database"
  }
}

const migrate = Command.make(
  "migrate",
  { json: jsonOutputFlag },
  Effect.fn(function* ({ json }) {
    const url = yield* ledgerUrlSetting
    if (Option.isNone(url)) return yield* new NoTarget()
    const moved = yield* moveToPostgres(ledgerDirectoryIn(yield* homeSetting), url.value)
    yield* print(json, moved, [
      `The ledger is now in ${moved.place}: ${describeTotals(moved)}, the same as before.`,
      `The console's data moved with it: ${moved.people} people, ${moved.payments} card payments, and everything else.`,
      "Start every larder-serve with this LARDER_LEDGER_URL. The old ledger stays where it is; servers refuse to open it."
    ])
  })
).pipe(
  Command.withDescription(
    "Copy the ledger in LARDER_HOME and the console's data into the empty PostgreSQL database of LARDER_LEDGER_URL, and verify them; servers must be stopped"
  )
)

export const ledgerCommand = Command.make("ledger").pipe(
  Command.withDescription("The ledger: every movement of credits"),
  Command.withSubcommands([exportEntries, usage, verify, backup, migrate])
)

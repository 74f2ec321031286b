/** Flags that several administrative commands share, and how their results are printed. */
import { scopes } from "@larder/schemas"
import { visibleInLine } from "@larder/warehouse/cli"
import { Console, Effect, Option, Result, Schema } from "effect"
import { Flag } from "effect/cli"
import { creditsOf, PrintableText, parseTypedTimestamp, Scopes } from "../ledger/index.ts"
import { homeSetting } from "../settings.ts"
import { layerAdministration } from "./control/reach-ledger.ts"

export const json = Flag.Boolean("json").pipe(
  Flag.withDescription("Print JSON on stdout, for machines"),
  Flag.withDefault(false)
)
export const account = Flag.String("account").pipe(
  Flag.withMetavar("ID"),
  Flag.withDescription("Id of the account, acct_…")
)
export const key = Flag.String("key").pipe(
  Flag.withMetavar("ID"),
  Flag.withDescription("Id of the key, key_…, not the key itself")
)
export const name = Flag.String("name").pipe(Flag.withMetavar("NAME"), Flag.withSchema(PrintableText))

const decodeScopes = Schema.decodeUnknownResult(Scopes)

export const scopeList = Flag.String("scopes").pipe(
  Flag.withMetavar("all|LIST"),
  Flag.withDescription(`"all", or some of these, separated by commas: ${scopes.join(", ")}`),
  Flag.filterMap(
    (text) => Result.getSuccess(decodeScopes(text === "all" ? scopes : [...new Set(text.split(","))])),
    () => `all, or some of ${scopes.join(", ")}, separated by commas`
  )
)

const usd = (flag: string, description: string) =>
  Flag.String(flag).pipe(
    Flag.withMetavar("USD"),
    Flag.withDescription(description),
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(creditsOf(text)),
      () => "US dollars with at most three decimals, such as 25 or 12.50"
    )
  )

export const budget = usd("budget-usd", "US dollars that the key may spend per calendar month in UTC; 0 pauses it")
const shorterBudget = (flag: string, period: string) => ({
  given: usd(flag, `US dollars that the key may spend ${period}, in addition to its monthly budget`),
  changed: Flag.String(flag).pipe(
    Flag.withMetavar("USD"),
    Flag.withDescription(`US dollars that the key may spend ${period}; "none" removes this budget`),
    Flag.filterMap(
      (text) => (text === "none" ? Option.some(null) : Option.fromUndefinedOr(creditsOf(text))),
      () => "US dollars with at most three decimals, such as 25 or 12.50, or none"
    )
  )
})
export const dailyBudget = shorterBudget("daily-budget-usd", "per UTC day")
export const weeklyBudget = shorterBudget("weekly-budget-usd", "per week, from Monday in UTC")
export const amount = usd("usd", "Amount in US dollars").pipe(
  Flag.filter(
    (credits) => credits > 0,
    () => "an amount above 0"
  )
)

const moment = (flag: string, description: string) =>
  Flag.String(flag).pipe(Flag.withMetavar("MOMENT"), Flag.withDescription(description))
const example = "a moment in UTC, such as 2027-01-31T00:00:00Z"

const expiring = (description: string) =>
  moment("expires-at", description).pipe(
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parseTypedTimestamp(text)),
      () => example
    )
  )
export const expiresAt = expiring(`When the key ends: ${example}; it is refused from then on`)
export const creditsExpireAt = expiring(
  `When the credits end: ${example}; what is left of them then is taken out. Calls spend first what ends first`
)
/** The same flag for an edit: "never" gives null, which removes the expiry. */
export const changedExpiry = moment("expires-at", `When the key ends: ${example}; "never" removes the end`).pipe(
  Flag.filterMap(
    (text) => (text === "never" ? Option.some(null) : Option.fromUndefinedOr(parseTypedTimestamp(text))),
    () => `${example}, or never`
  )
)

/** Runs a command against the ledger of `LARDER_HOME`, in this process or in the server that holds the ledger. */
export const withLedger = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.flatMap(homeSetting, (home) => Effect.provide(command, layerAdministration(home)))

/** One JSON value for machines, or lines for people. */
export const print = (asJson: boolean, value: unknown, lines: ReadonlyArray<string>) =>
  Console.log(asJson ? JSON.stringify(value) : lines.join("\n"))

/** Columns as wide as their widest cell. */
export const table = (cells: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const rows = cells.map((row) => row.map(visibleInLine))
  const widths: Array<number> = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  )
}

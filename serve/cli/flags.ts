/** Flags that several administrative commands share, and how their results are printed. */
import { scopes } from "@larder/schemas"
import { Console, Effect, Option, Result, Schema } from "effect"
import { Flag } from "effect/cli"
import { creditsOf, PrintableText, parseTypedTimestamp, Scopes } from "../ledger/index.ts"
import { homeSetting } from "../settings.ts"
import { layerAdministration } from "./control/reach.ts"

export const jsonOutputFlag = Flag.Boolean("json").pipe(
  Flag.withDescription("Print JSON on stdout, for machines"),
  Flag.withDefault(false)
)
export const accountFlag = Flag.String("account").pipe(
  Flag.withMetavar("ID"),
  Flag.withDescription("Id of the account, acct_…")
)
export const keyFlag = Flag.String("key").pipe(
  Flag.withMetavar("ID"),
  Flag.withDescription("Id of the key, key_…, not the key itself")
)
export const nameFlag = Flag.String("name").pipe(Flag.withMetavar("NAME"), Flag.withSchema(PrintableText))

const decodeScopes = Schema.decodeUnknownResult(Scopes)

export const scopesFlag = Flag.String("scopes").pipe(
  Flag.withMetavar("all|LIST"),
  Flag.withDescription(`"all", or some of these, separated by commas: ${scopes.join(", ")}`),
  Flag.filterMap(
    (text) => Result.getSuccess(decodeScopes(text === "all" ? scopes : [...new Set(text.split(","))])),
    () => `all, or some of ${scopes.join(", ")}, separated by commas`
  )
)

interface Parsing<A> {
  readonly metavar: string
  readonly parse: (text: string) => A | undefined
  readonly expected: string
}
const parsedFlag = <A>(flag: string, description: string, { expected, metavar, parse }: Parsing<A>) =>
  Flag.String(flag).pipe(
    Flag.withMetavar(metavar),
    Flag.withDescription(description),
    Flag.filterMap(
      (text) => Option.fromUndefinedOr(parse(text)),
      () => expected
    )
  )
/** Makes a flag optional: null if it is missing. */
export const orNull = <A>(flag: Flag.Flag<A>) => flag.pipe(Flag.optional, Flag.map(Option.getOrNull))
/** For an edit: this word gives null, which removes the value. */
const orNone = <A>({ expected, metavar, parse }: Parsing<A>, word: string): Parsing<A | null> => ({
  metavar,
  parse: (text) => (text === word ? null : parse(text)),
  expected: `${expected}, or ${word}`
})

const usd: Parsing<number> = {
  metavar: "USD",
  parse: creditsOf,
  expected: "US dollars with at most three decimals, such as 25 or 12.50"
}
export const budgetFlag = parsedFlag(
  "budget-usd",
  "US dollars that the key may spend per calendar month in UTC; 0 pauses it",
  usd
)
export const amountFlag = parsedFlag("usd", "Amount in US dollars", usd).pipe(
  Flag.filter(
    (credits) => credits > 0,
    () => "an amount above 0"
  )
)

const time: Parsing<string> = {
  metavar: "TIME",
  parse: parseTypedTimestamp,
  expected: "a time in UTC, such as 2027-01-31T00:00:00Z"
}
const expiryFlag = <A>(description: string, parsing: Parsing<A>) => parsedFlag("expires-at", description, parsing)
export const keyExpiry = {
  forNewKey: orNull(expiryFlag(`When the key expires: ${time.expected}; it is refused from then on`, time)),
  forEdit: expiryFlag(`When the key expires: ${time.expected}; "never" removes the expiry`, orNone(time, "never"))
}

/** Runs a command against the ledger of `LARDER_HOME`, in this process or in the server that holds the ledger. */
export const withLedger = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.flatMap(homeSetting, (home) => Effect.provide(command, layerAdministration(home)))

export const print = (asJson: boolean, value: unknown, lines: ReadonlyArray<string>) =>
  Console.log(asJson ? JSON.stringify(value) : lines.join("\n"))

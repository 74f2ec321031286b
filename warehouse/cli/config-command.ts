/** `config` of both programs: prints the settings in force, without what must stay secret, and checks them. */
import { settingSections } from "@larder/schemas"
import { Config, Console, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { formatTable } from "./table.ts"

/** An address without user, password, query and fragment; undefined if those cannot be separated from the rest. */
export const publicAddress = (text: string): string | undefined => {
  if (/^(\.|~|\/(?!\/))/.test(text) || !/\/\/|[@=?]/.test(text)) return text // a path, or a host without a scheme
  const url = URL.parse(text)
  if (url === null || (text.includes("@") && url.username === "" && url.password === "")) return undefined
  const address = `${url.protocol}//${url.host}${url.pathname}`.replace(/\/$/, "")
  return address.includes("@") ? undefined : address
}

const hideSecrets = (text: string, shown: "secret" | "address" | undefined) => {
  if (shown === undefined) return text
  return (shown === "address" ? publicAddress(text) : undefined) ?? "set"
}

const readOptional = (name: string) => Config.map(Config.option(Config.String(name)), Option.getOrUndefined)

/** Only the variables of proxies, which Larder shares with other programs, may be in lower case. */
const isOfProxy = (name: string) => /^(HTTPS?|NO)_PROXY$/.test(name)

type Setting = (typeof settingSections)[number]["settings"][string]

const describe = Effect.fnUntraced(function* (name: string, setting: Setting) {
  const lowerCase = isOfProxy(name) ? yield* readOptional(name.toLowerCase()) : undefined
  const text = lowerCase ?? (yield* readOptional(name))
  if (text === undefined) {
    const value = setting.shown === "secret" ? "unset" : (setting.default ?? null)
    return { name, value, from: "default" }
  }
  if (text === setting.default) return { name, value: text, from: "default" } // `launch.mjs` sets one
  const isInFile = setting.inFile && (yield* readOptional(`${name}_FILE`)) !== undefined
  return { name, value: hideSecrets(text, setting.shown), from: isInFile ? "file" : "environment" }
})

/** `check` reads the settings as the program does, and fails if one of them cannot be used. */
export const makeConfigCommand = <E, R>(
  program: "larder-ingest" | "larder-serve",
  check: Effect.Effect<unknown, E, R>
) => {
  const settings = settingSections
    .filter(({ programs }) => programs.includes(program))
    .flatMap((section) => Object.entries(section.settings))
  return Command.make(
    "config",
    {
      json: Flag.Boolean("json").pipe(
        Flag.withDescription("Print JSON on stdout, for machines"),
        Flag.withDefault(false)
      )
    },
    Effect.fn(function* ({ json }) {
      const described = yield* Effect.forEach(settings, ([name, setting]) => describe(name, setting))
      const rows = described.map(({ from, name, value }, at) => [
        name,
        value ?? settings[at]?.[1].otherwise ?? "unset",
        from
      ])
      yield* Console.log(json ? JSON.stringify(described) : formatTable(rows).join("\n"))
      yield* check
    })
  ).pipe(
    Command.withDescription(
      "Print the settings in force: secrets as set or unset, addresses without passwords; exits with 2 if one is invalid"
    )
  )
}

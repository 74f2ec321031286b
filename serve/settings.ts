/** Settings of the server, from the environment. */
import { Config, Option, Redacted, Schema } from "effect"

/** 0 takes a free port. */
const Port = Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: 65_535 }))

export const homeSetting = Config.String("LARDER_HOME").pipe(Config.withDefault("data"))

/** Where a ledger is kept that several servers share; it holds a password. Empty equals absent. */
export const ledgerUrlSetting = Config.option(
  Config.schema(
    Schema.RedactedFromValue(
      Schema.String.check(
        Schema.makeFilter((text) =>
          text === "" || /^postgres(ql)?:\/\/[^/]/.test(text) ? undefined : "LARDER_LEDGER_URL must be postgres://…"
        )
      )
    ),
    "LARDER_LEDGER_URL"
  )
).pipe(Config.map(Option.filter((url) => Redacted.value(url) !== "")))

/** An address with a path is none: links and cookies are for its root. */
const PublicUrl = (setting: string) =>
  Schema.String.check(
    Schema.makeFilter((text) => {
      const url = URL.parse(text)
      const isOrigin = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
      return text === "" || isOrigin ? undefined : `${setting} must be http(s)://host, without a path`
    })
  )

/** Where people find the console, where that is not the address of its listener. Without a slash at its end. */
export const publicConsoleUrlSetting = Config.option(
  Config.schema(PublicUrl("LARDER_CONSOLE_URL"), "LARDER_CONSOLE_URL")
).pipe(Config.map(Option.flatMap((text) => Option.fromNullishOr(URL.parse(text)?.origin))))

/** Where programs reach the API, as examples in the console write it, where that is not the address of its listener. */
const publicApiUrlSetting = Config.option(Config.schema(PublicUrl("LARDER_API_URL"), "LARDER_API_URL")).pipe(
  Config.map(Option.flatMap((text) => Option.fromNullishOr(URL.parse(text)?.origin)))
)

const listenerSettings = {
  /** Loopback unless told otherwise. */
  host: Config.String("LARDER_HOST").pipe(Config.withDefault("127.0.0.1")),
  consolePort: Config.schema(Port, "LARDER_CONSOLE_PORT").pipe(Config.withDefault(8081))
}

const urlOf = (host: string, port: number) => `http://${host.includes(":") ? `[${host}]` : host}:${port}`

/** The same for a command that has no listener: what the settings of the server say. */
export const consoleUrlSetting = Config.all({ ...listenerSettings, url: publicConsoleUrlSetting }).pipe(
  Config.map(({ consolePort, host, url }) => Option.getOrElse(url, () => urlOf(host, consolePort)))
)

/** Hosts by which a listener takes every address of its machine, and the one at which that machine reaches it. */
const loopbackOf = new Map([
  ["0.0.0.0", "127.0.0.1"],
  ["[::]", "[::1]"]
])
export const isEveryAddress = (url: string): boolean => loopbackOf.has(URL.parse(url)?.hostname ?? "")

const port = Config.schema(Port, "LARDER_PORT").pipe(Config.withDefault(8080))

/** Where a command on this machine reaches the API. None where the server takes a free port: only it knows which. */
export const apiUrlSetting = Config.all({ host: listenerSettings.host, port, url: publicApiUrlSetting }).pipe(
  Config.map(({ host, port, url }) => {
    if (Option.isSome(url) || port === 0) return url
    const listening = URL.parse(urlOf(host, port))
    const hostname = listening?.hostname ?? host
    return Option.some(`http://${loopbackOf.get(hostname) ?? hostname}:${port}`)
  })
)

export const serveSettings = Config.all({
  home: homeSetting,
  ledgerUrl: ledgerUrlSetting,
  ...listenerSettings,
  port,
  publicConsoleUrl: publicConsoleUrlSetting,
  publicApiUrl: publicApiUrlSetting,
  /** Host on which a bare call of `/v1/commodities` answers the paged shape. */
  dataHost: Config.option(Config.String("LARDER_DATA_HOST"))
})

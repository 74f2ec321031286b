/** Settings of the server, from the environment. */
import { type Licence, licences } from "@larder/schemas"
import { Config, Option, Redacted, Schema } from "effect"
import { addressFor, urlOf } from "./addresses.ts"
import { placeProblem } from "./ledger/index.ts"
import { loopback, proxiesIn } from "./trusted-proxies.ts"

/** 0 takes a free port. */
const Port = Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: 65_535 }))

export const homeSetting = Config.String("LARDER_HOME").pipe(Config.withDefault("data"))

/** URL of the database for a ledger that several servers share; it contains a password. Empty means unset. */
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

/** Where the head of the ledger's chain is stored; a URL may contain a password. Empty means unset. */
export const ledgerAnchorSetting = Config.option(
  Config.schema(
    Schema.RedactedFromValue(
      Schema.String.check(
        Schema.makeFilter((text) => {
          const problem = text === "" ? undefined : placeProblem(text)
          return problem === undefined ? undefined : `LARDER_LEDGER_ANCHOR ${problem}`
        })
      )
    ),
    "LARDER_LEDGER_ANCHOR"
  )
).pipe(Config.map(Option.filter((place) => Redacted.value(place) !== "")))

/** A URL with a path is refused: links and cookies are for its root. */
const PublicUrl = (setting: string) =>
  Schema.String.check(
    Schema.makeFilter((text) => {
      const url = URL.parse(text)
      const isOrigin = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
      return text === "" || isOrigin ? undefined : `${setting} must be http(s)://host, without a path`
    })
  )

/** Public address of the console, if it differs from its listener's address. Without a trailing slash. */
export const publicConsoleUrlSetting = Config.option(
  Config.schema(PublicUrl("LARDER_CONSOLE_URL"), "LARDER_CONSOLE_URL")
).pipe(Config.map(Option.flatMap((text) => Option.fromNullishOr(URL.parse(text)?.origin))))

/** Public address of the API, as the console's examples show it, if it differs from its listener's address. */
const publicApiUrlSetting = Config.option(Config.schema(PublicUrl("LARDER_API_URL"), "LARDER_API_URL")).pipe(
  Config.map(Option.flatMap((text) => Option.fromNullishOr(URL.parse(text)?.origin)))
)

/** Proxies whose X-Forwarded-For is trusted; by default those on this machine. Empty means unset. */
const trustedProxiesSetting = Config.schema(
  Schema.String.check(
    Schema.makeFilter((text) =>
      text === "" || proxiesIn(text) !== undefined
        ? undefined
        : "LARDER_TRUSTED_PROXIES must be addresses or networks, such as 10.0.0.7, 10.1.0.0/16"
    )
  ),
  "LARDER_TRUSTED_PROXIES"
).pipe(
  Config.withDefault(""),
  Config.map((text) => proxiesIn(text) ?? loopback)
)

/** Empty means unset: an empty host would listen on every address of the machine. */
const hostSetting = (name: string) =>
  Config.option(Config.String(name)).pipe(Config.map(Option.filter((host) => host !== "")))

/** Loopback by default. */
const host = hostSetting("LARDER_HOST").pipe(Config.map(Option.getOrElse(() => "127.0.0.1")))

const consoleSettings = {
  /** The console can stay private while the API is public. */
  consoleHost: Config.all({ own: hostSetting("LARDER_CONSOLE_HOST"), host }).pipe(
    Config.map(({ host, own }) => Option.getOrElse(own, () => host))
  ),
  consolePort: Config.schema(Port, "LARDER_CONSOLE_PORT").pipe(Config.withDefault(8081))
}

/** The console's address according to the settings, for a command that has no listener. */
export const consoleUrlSetting = Config.all({ ...consoleSettings, url: publicConsoleUrlSetting }).pipe(
  Config.map(({ consoleHost, consolePort, url }) =>
    Option.getOrElse(url, () => addressFor(urlOf(consoleHost, consolePort), null))
  )
)

const port = Config.schema(Port, "LARDER_PORT").pipe(Config.withDefault(8080))

/**
 * Address at which a command on this machine reaches the API. None if the server takes a free port: only the server
 * knows it.
 */
export const apiUrlSetting = Config.all({ host, port, url: publicApiUrlSetting }).pipe(
  Config.map(({ host, port, url }) =>
    Option.isSome(url) || port === 0 ? url : Option.some(addressFor(urlOf(host, port), null))
  )
)

const licencesIn = (text: string) =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
const isLicence = (name: string): name is Licence => licences.some((licence) => licence === name)

/** Empty means unset: nothing is withheld. */
const withheldLicencesSetting = Config.schema(
  Schema.String.check(
    Schema.makeFilter((text) =>
      licencesIn(text).every(isLicence)
        ? undefined
        : `LARDER_WITHHELD_LICENCES must be licences, separated by commas, of these: ${licences.join(", ")}`
    )
  ),
  "LARDER_WITHHELD_LICENCES"
).pipe(
  Config.withDefault(""),
  Config.map((text) => licencesIn(text).filter(isLicence))
)

export const serveSettings = Config.all({
  home: homeSetting,
  ledgerUrl: ledgerUrlSetting,
  ledgerAnchor: ledgerAnchorSetting,
  host,
  port,
  ...consoleSettings,
  publicConsoleUrl: publicConsoleUrlSetting,
  publicApiUrl: publicApiUrlSetting,
  trustedProxies: trustedProxiesSetting,
  /** Host on which `/v1/commodities` without parameters answers in the paged shape. */
  dataHost: Config.option(Config.String("LARDER_DATA_HOST")),
  /** Commodity metrics of these licences are not served. */
  withheldLicences: withheldLicencesSetting
})

/** Settings of the server, from the environment. */
import { type Licence, licences } from "@larder/schemas/commodity/records.ts"
import { Config, Option, Redacted, Schema } from "effect"
import { addressFor, urlOf } from "./addresses.ts"
import { placeProblem } from "./ledger/anchor.ts"
import { loopback, proxiesIn } from "./trusted-proxies.ts"

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

/** Where the head of the ledger's chain is kept; an address may hold a password. Empty equals absent. */
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

/** Whose X-Forwarded-For is believed: of proxies on this machine, unless told otherwise. Empty equals absent. */
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

/** Empty equals absent: an empty host would be every address of the machine. */
const hostSetting = (name: string) =>
  Config.option(Config.String(name)).pipe(Config.map(Option.filter((host) => host !== "")))

/** Loopback unless told otherwise. */
const host = hostSetting("LARDER_HOST").pipe(Config.map(Option.getOrElse(() => "127.0.0.1")))

const consoleSettings = {
  /** The console may be kept private where the API is public. */
  consoleHost: Config.all({ own: hostSetting("LARDER_CONSOLE_HOST"), host }).pipe(
    Config.map(({ host, own }) => Option.getOrElse(own, () => host))
  ),
  consolePort: Config.schema(Port, "LARDER_CONSOLE_PORT").pipe(Config.withDefault(8081))
}

/** The same for a command that has no listener: what the settings of the server say. */
export const consoleUrlSetting = Config.all({ ...consoleSettings, url: publicConsoleUrlSetting }).pipe(
  Config.map(({ consoleHost, consolePort, url }) =>
    Option.getOrElse(url, () => addressFor(urlOf(consoleHost, consolePort), null))
  )
)

const port = Config.schema(Port, "LARDER_PORT").pipe(Config.withDefault(8080))

/** Where a command on this machine reaches the API. None where the server takes a free port: only it knows which. */
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

/** Empty equals absent: nothing is withheld. */
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
  /** Host on which a bare call of `/v1/commodities` answers the paged shape. */
  dataHost: Config.option(Config.String("LARDER_DATA_HOST")),
  /** Commodity metrics of these licences are not served. */
  withheldLicences: withheldLicencesSetting
})

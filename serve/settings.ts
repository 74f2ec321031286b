/** Settings of the server, from the environment. */
import { defaultOf, type Licence, licences, settingOf } from "@larder/schemas"
import { Config, Duration, Option, Redacted, Schema } from "effect"
import { addressFor, buildUrl } from "./addresses.ts"
import { loopback, parseProxies } from "./trusted-proxies.ts"

/** 0 means any free port. */
const Port = Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 0, maximum: 65_535 }))

const KeptRequests = Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 100, maximum: 100_000 }))

/** A setting that `findProblem` checks; it returns the message. An empty string means unset. */
const checkedString = (name: string, findProblem: (text: string) => string | undefined) =>
  Schema.String.check(
    Schema.makeFilter((text) => {
      const problem = text === "" ? undefined : findProblem(text)
      return problem === undefined ? undefined : `${name} ${problem}`
    })
  )

export const homeSetting = settingOf("LARDER_HOME", Schema.String)

const secretSetting = (name: string, findProblem: (text: string) => string | undefined) =>
  Config.option(Config.schema(Schema.RedactedFromValue(checkedString(name, findProblem)), name)).pipe(
    Config.map(Option.filter((text) => Redacted.value(text) !== ""))
  )

/** URL of the database for a ledger that several servers share; it contains a password. */
export const ledgerUrlSetting = secretSetting("LARDER_LEDGER_URL", (text) => {
  if (!/^postgres(ql)?:\/\/[^/]/.test(text)) return "must be postgres://…"
  // otherwise a part of the password would be taken for the host, and errors would contain it
  const url = URL.parse(text)
  return url !== null && `${url.pathname}${url.search}${url.hash}`.includes("@")
    ? "must have / ? # @ in the user and password as %2F %3F %23 %40"
    : undefined
})

/** Without a trailing slash. A URL with a path is rejected, because links and cookies are for its root. */
const publicUrlSetting = (name: string) => {
  const text = checkedString(name, (text) => {
    const url = URL.parse(text)
    const isOrigin = url !== null && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href
    return isOrigin ? undefined : "must be http(s)://host, without a path"
  })
  return Config.option(Config.schema(text, name)).pipe(
    Config.map(Option.flatMap((url) => Option.fromNullishOr(URL.parse(url)?.origin)))
  )
}

export const publicConsoleUrlSetting = publicUrlSetting("LARDER_CONSOLE_URL")

/** Public address of the API, as the console's examples show it, if it differs from its listener's address. */
const publicApiUrlSetting = publicUrlSetting("LARDER_API_URL")

/** Proxies that may set X-Forwarded-For; by default those on this machine. */
const trustedProxiesSetting = Config.schema(
  checkedString("LARDER_TRUSTED_PROXIES", (text) =>
    parseProxies(text) === undefined ? "must be addresses or networks, such as 10.0.0.7, 10.1.0.0/16" : undefined
  ),
  "LARDER_TRUSTED_PROXIES"
).pipe(
  Config.withDefault(""),
  Config.map((text) => parseProxies(text) ?? loopback)
)

/** Empty means unset: a server with an empty host would listen on all interfaces. */
const hostSetting = (name: string) =>
  Config.option(Config.String(name)).pipe(Config.map(Option.filter((host) => host !== "")))

const host = hostSetting("LARDER_HOST").pipe(Config.map(Option.getOrElse(() => defaultOf("LARDER_HOST"))))

const consoleSettings = {
  /** The console can stay private while the API is public. */
  consoleHost: Config.all({ own: hostSetting("LARDER_CONSOLE_HOST"), host }).pipe(
    Config.map(({ host, own }) => Option.getOrElse(own, () => host))
  ),
  consolePort: settingOf("LARDER_CONSOLE_PORT", Port)
}

/** The console's address according to the settings, for a command that has no listener. */
export const consoleUrlSetting = Config.all({ ...consoleSettings, url: publicConsoleUrlSetting }).pipe(
  Config.map(({ consoleHost, consolePort, url }) =>
    Option.getOrElse(url, () => addressFor(buildUrl(consoleHost, consolePort), null))
  )
)

const port = settingOf("LARDER_PORT", Port)

const decodeDuration = Schema.decodeOption(Schema.DurationFromString)
const durationUnits: Readonly<Record<string, string>> = { s: "seconds", m: "minutes", h: "hours" }
/** `90 seconds`, `90s`, or a plain number, which is in seconds. */
const parseDuration = (text: string) => {
  const [, amount, unit = "s"] = /^\s*(\d+)\s*([smh])?\s*$/i.exec(text) ?? []
  const long = amount === undefined ? text.trim().toLowerCase() : `${amount} ${durationUnits[unit.toLowerCase()]}`
  return Option.getOrElse(decodeDuration(long), () => Duration.infinity)
}

const durationSetting = (name: "LARDER_KEEP_ALIVE" | "LARDER_STOP_DELAY", minimum: string) =>
  Config.schema(
    checkedString(name, (text) =>
      Duration.between(parseDuration(text), { minimum: parseDuration(minimum), maximum: Duration.days(1) })
        ? undefined
        : `must be a time such as 90 seconds, from ${minimum} to 1 day`
    ),
    name
  ).pipe(
    Config.withDefault(""),
    Config.map((text) => parseDuration(text === "" ? defaultOf(name) : text))
  )

const splitLicences = (text: string) =>
  text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
const isLicence = (name: string): name is Licence => licences.some((licence) => licence === name)

/** Commodity metrics of these licences are not served. */
const withheldLicencesSetting = Config.schema(
  checkedString("LARDER_WITHHELD_LICENCES", (text) =>
    splitLicences(text).every(isLicence)
      ? undefined
      : `must be one or more of these licences, separated by commas: ${licences.join(", ")}`
  ),
  "LARDER_WITHHELD_LICENCES"
).pipe(
  Config.withDefault(""),
  Config.map((text) => splitLicences(text).filter(isLicence))
)

export const serveSettings = Config.all({
  home: homeSetting,
  ledgerUrl: ledgerUrlSetting,
  host,
  port,
  ...consoleSettings,
  publicConsoleUrl: publicConsoleUrlSetting,
  publicApiUrl: publicApiUrlSetting,
  trustedProxies: trustedProxiesSetting,
  /** On this host, `/v1/commodities` without parameters returns pages. */
  dataHost: Config.option(Config.String("LARDER_DATA_HOST")),
  withheldLicences: withheldLicencesSetting,
  /** Calls of each account in the request log. Pruning counts them again every thousand calls, so there is a limit. */
  keptRequests: settingOf("LARDER_KEPT_REQUESTS", KeptRequests),
  /** Pause between two looks for a newer generation in a shared depot. */
  depotPoll: settingOf("LARDER_DEPOT_POLL", Schema.DurationFromString),
  /** How long an idle connection stays open: longer than 60 s, after which most balancers no longer reuse one. */
  keepAlive: durationSetting("LARDER_KEEP_ALIVE", "1 second"),
  /** How long requests are still served after the signal to stop. */
  stopDelay: durationSetting("LARDER_STOP_DELAY", "0 seconds")
})

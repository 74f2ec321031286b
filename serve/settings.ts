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

export const serveSettings = Config.all({
  home: homeSetting,
  ledgerUrl: ledgerUrlSetting,
  /** Loopback unless told otherwise. */
  host: Config.String("LARDER_HOST").pipe(Config.withDefault("127.0.0.1")),
  port: Config.schema(Port, "LARDER_PORT").pipe(Config.withDefault(8080)),
  consolePort: Config.schema(Port, "LARDER_CONSOLE_PORT").pipe(Config.withDefault(8081)),
  /** Host on which a bare call of `/v1/commodities` answers the paged shape. */
  dataHost: Config.option(Config.String("LARDER_DATA_HOST"))
})

import { assert, describe, it } from "@effect/vitest"
import { Config, ConfigProvider, Duration, Effect } from "effect"
import { consoleUrlSetting, serveSettings } from "./settings.ts"

const readConsole = (environment: Readonly<Record<string, string>>) =>
  Config.all({ url: consoleUrlSetting, settings: serveSettings }).pipe(
    Effect.map(({ settings, url }) => [settings.host, settings.consoleHost, url]),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(environment)))
  )

describe("the console listens on the host of the API by default, and links point to it", () => {
  it.effect.each([
    [{}, ["127.0.0.1", "127.0.0.1", "http://127.0.0.1:8081"]],
    [{ LARDER_HOST: "0.0.0.0" }, ["0.0.0.0", "0.0.0.0", "http://127.0.0.1:8081"]],
    [{ LARDER_HOST: "::", LARDER_CONSOLE_PORT: "9" }, ["::", "::", "http://[::1]:9"]],
    [
      { LARDER_HOST: "0.0.0.0", LARDER_CONSOLE_HOST: "192.168.1.5" },
      ["0.0.0.0", "192.168.1.5", "http://192.168.1.5:8081"]
    ],
    [
      { LARDER_HOST: "192.168.1.5", LARDER_CONSOLE_HOST: "" },
      ["192.168.1.5", "192.168.1.5", "http://192.168.1.5:8081"]
    ],
    [{ LARDER_HOST: "" }, ["127.0.0.1", "127.0.0.1", "http://127.0.0.1:8081"]],
    [
      { LARDER_HOST: "0.0.0.0", LARDER_CONSOLE_URL: "https://console.example.com/" },
      ["0.0.0.0", "0.0.0.0", "https://console.example.com"]
    ]
  ] as const)("reads the settings %j as API host, console host and link %j", ([environment, expected]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* readConsole(environment), [...expected])
    })
  )
})

describe("trusted proxies", () => {
  const checkTrust = (proxies: string | undefined, address: string) =>
    serveSettings.pipe(
      Effect.map(({ trustedProxies }) => trustedProxies.check(address)),
      Effect.provide(
        ConfigProvider.layer(
          ConfigProvider.fromUnknown(proxies === undefined ? {} : { LARDER_TRUSTED_PROXIES: proxies })
        )
      )
    )
  it.effect.each([
    [undefined, "127.0.0.1", true],
    ["", "127.0.0.1", true],
    ["10.1.0.0/16, 192.0.2.7", "10.1.2.3", true],
    ["10.1.0.0/16, 192.0.2.7", "127.0.0.1", false]
  ] as const)("with the list %j, trusts %s: %s", ([proxies, address, expected]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* checkTrust(proxies, address), expected)
    })
  )

  it.effect("rejects a value that is not a list of proxies, and lists the valid values", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(checkTrust("nobody", "127.0.0.1"))
      assert.include(error.message, "LARDER_TRUSTED_PROXIES must be addresses or networks, such as 10.0.0.7")
    })
  )
})

describe("withheld licences", () => {
  const withheld = (text: string) =>
    serveSettings.pipe(
      Effect.map(({ withheldLicences }) => withheldLicences),
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ LARDER_WITHHELD_LICENCES: text })))
    )
  it.effect.each([
    ["", []],
    ["cme_group", ["cme_group"]],
    [" cme_group , public_domain", ["cme_group", "public_domain"]]
  ] as const)("reads %j as %j", ([text, expected]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* withheld(text), [...expected])
    })
  )
  it.effect.each(["cme", "cme_group;public_domain", "CME_GROUP"])("rejects %j and lists the valid licences", (text) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(withheld(text))
      assert.include(error.message, "LARDER_WITHHELD_LICENCES")
      assert.include(error.message, "public_domain, cme_group")
    })
  )
})

describe("the times of a stop and of idle connections", () => {
  const readMillis = (environment: Readonly<Record<string, string>>) =>
    serveSettings.pipe(
      Effect.map(({ keepAlive, stopDelay }) => [Duration.toMillis(keepAlive), Duration.toMillis(stopDelay)]),
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(environment)))
    )

  it.effect.each([
    [{}, [75_000, 0]],
    [{ LARDER_KEEP_ALIVE: "", LARDER_STOP_DELAY: "0" }, [75_000, 0]],
    [{ LARDER_KEEP_ALIVE: "620", LARDER_STOP_DELAY: "15" }, [620_000, 15_000]],
    [{ LARDER_KEEP_ALIVE: "1 second", LARDER_STOP_DELAY: "1.5 minutes" }, [1_000, 90_000]],
    [{ LARDER_KEEP_ALIVE: "90s", LARDER_STOP_DELAY: " 2M " }, [90_000, 120_000]]
  ] as const)("are read from %j", ([environment, expected]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* readMillis(environment), [...expected])
    })
  )

  it.effect.each([
    ["LARDER_KEEP_ALIVE", "0", "1 second"],
    ["LARDER_KEEP_ALIVE", "Infinity", "1 second"],
    ["LARDER_STOP_DELAY", "soon", "0 seconds"],
    ["LARDER_STOP_DELAY", "-1 seconds", "0 seconds"],
    ["LARDER_STOP_DELAY", "2 days", "0 seconds"]
  ] as const)("have limits: %s is not %s", ([name, value, minimum]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(readMillis({ [name]: value }))
      assert.include(error.cause.message, `${name} must be a time such as 90 seconds, from ${minimum} to 1 day`)
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Option } from "effect"
import { apiUrlSetting, isEveryAddress } from "./settings.ts"

const apiUrl = (environment: Readonly<Record<string, string>>) =>
  apiUrlSetting.pipe(
    Effect.map(Option.getOrUndefined),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(environment)))
  )

describe("where a command reaches the API", () => {
  it.effect.each([
    [{}, "http://127.0.0.1:8080"],
    [{ LARDER_PORT: "9000", LARDER_HOST: "192.168.1.5" }, "http://192.168.1.5:9000"],
    [{ LARDER_HOST: "0.0.0.0" }, "http://127.0.0.1:8080"],
    [{ LARDER_HOST: "::" }, "http://[::1]:8080"],
    [{ LARDER_HOST: "::1" }, "http://[::1]:8080"],
    [{ LARDER_PORT: "0" }, undefined],
    [{ LARDER_PORT: "0", LARDER_API_URL: "https://api.example.com/" }, "https://api.example.com"],
    [{ LARDER_LEDGER_URL: "mysql://x", LARDER_CONSOLE_URL: "nowhere" }, "http://127.0.0.1:8080"]
  ] as const)("%j is %s", ([environment, expected]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* apiUrl(environment), expected)
    })
  )
})

describe("an address that stands for all of a machine", () => {
  it.each(["http://0.0.0.0:8080", "http://[::]:8080", "http://0:8080"])("is %s", (url) =>
    assert.isTrue(isEveryAddress(url))
  )
  it.each(["http://127.0.0.1:8080", "http://[::1]:8080", "http://0.0.0.0.example:8080", "nowhere"])(
    "is not %s",
    (url) => assert.isFalse(isEveryAddress(url))
  )
})

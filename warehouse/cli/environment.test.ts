import { writeFileSync } from "node:fs"
import path from "node:path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { testSettings } from "@larder/schemas/settings.ts"
import { Config, Effect, Exit, FileSystem, Logger, Option } from "effect"
import { settingsFrom } from "./environment.ts"
import { expectedMessages } from "./program.ts"

/** What a program reads as `name` in this environment, or the message of its refusal. */
const readIn = Effect.fnUntraced(function* (
  variables: Readonly<Record<string, string>>,
  name = "LARDER_SOURCES",
  program = "larder-ingest"
) {
  const warnings: Array<unknown> = []
  const logger = Logger.layer([Logger.make(({ message }) => warnings.push(message))])
  const read = Config.option(Config.String(name)).pipe(Effect.provide(settingsFrom(program, () => variables)))
  const exit = yield* Effect.exit(Effect.provide(read, logger))
  const value = Exit.isSuccess(exit) ? Option.getOrUndefined(exit.value) : expectedMessages(exit.cause).join("\n")
  return { value, warnings: warnings.flat().map(String) }
}, Effect.provide(NodeFileSystem.layer))
const refusal = (text: string) => `A setting cannot be used: ${text}`

describe("the environment of a program", () => {
  it.effect.each<readonly [string, string]>([
    ["LARDER_SOURCE", "there is no LARDER_SOURCE. Did you mean LARDER_SOURCES?"],
    ["LARDER_LEDGER_URI", "there is no LARDER_LEDGER_URI. Did you mean LARDER_LEDGER_URL?"],
    ["LARDER_STORES_FILE", "there is no LARDER_STORES_FILE. Did you mean LARDER_STORE_FILES?"],
    ["LARDER_", "there is no LARDER_: docs/configuration.md lists all settings"]
  ])("with %s is refused", ([name, message]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* readIn({ [name]: "live" })).value, refusal(message))
      assert.isUndefined((yield* readIn({ [name]: "" })).value)
    })
  )

  it.effect("has all unknown names in one message", () =>
    Effect.gen(function* () {
      const { value } = yield* readIn({ LARDER_HOMES: "a", LARDER_SOURCES: "live", LARDER_PORTS: "1" })
      assert.strictEqual(
        value,
        refusal(
          "there is no LARDER_HOMES. Did you mean LARDER_HOME?; there is no LARDER_PORTS. Did you mean LARDER_PORT?"
        )
      )
    })
  )

  it.effect("may have settings of the other program, of tests, examples and assistants", () =>
    Effect.gen(function* () {
      const names = [...testSettings, "LARDER_PORT", "LARDER_API_KEY", "LARDER_URL", "LARDER_AUTHORIZATION"]
      const others = Object.fromEntries(names.map((name) => [name, "1"]))
      for (const program of ["larder-ingest", "larder-serve"]) {
        const read = yield* readIn({ ...others, LARDER_SOURCES: "live" }, "LARDER_SOURCES", program)
        assert.deepStrictEqual(read, { value: "live", warnings: [] })
      }
    })
  )

  it.effect("loses what Kubernetes sets for services called larder and larder-console, with one warning", () =>
    Effect.gen(function* () {
      const ofServices = {
        LARDER_SERVICE_HOST: "10.0.0.1",
        LARDER_SERVICE_PORT: "8080",
        LARDER_SERVICE_PORT_API: "8080",
        LARDER_PORT: "tcp://10.0.0.1:8080",
        LARDER_PORT_8080_TCP: "tcp://10.0.0.1:8080",
        LARDER_PORT_8080_TCP_PROTO: "tcp",
        LARDER_CONSOLE_SERVICE_HOST: "10.0.0.2",
        LARDER_CONSOLE_PORT: "tcp://10.0.0.2:8081"
      }
      const { value, warnings } = yield* readIn(ofServices, "LARDER_PORT", "larder-serve")
      assert.isUndefined(value)
      assert.lengthOf(warnings, 1)
      for (const name of Object.keys(ofServices)) assert.include(warnings[0], name)
      const own = yield* readIn({ ...ofServices, LARDER_PORT: "9000" }, "LARDER_PORT", "larder-serve")
      assert.strictEqual(own.value, "9000")
    })
  )
})

describe("a setting in a file", () => {
  const inFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()).pipe(
    Effect.provide(NodeFileSystem.layer)
  )
  it.effect("is its content, without the line break at the end", () =>
    Effect.gen(function* () {
      const file = path.join(yield* inFolder, "key")
      writeFileSync(file, "abc def\r\n")
      assert.strictEqual((yield* readIn({ MARS_API_KEY_FILE: file }, "MARS_API_KEY")).value, "abc def")
      const ledger = yield* readIn({ LARDER_LEDGER_URL_FILE: file }, "LARDER_LEDGER_URL", "larder-serve")
      assert.strictEqual(ledger.value, "abc def")
    })
  )
  it.effect("is refused if the file is missing, empty or a folder, or if the variable is set too", () =>
    Effect.gen(function* () {
      const folder = yield* inFolder
      const file = path.join(folder, "key")
      const read = (environment: Readonly<Record<string, string>>) =>
        Effect.map(readIn({ MARS_API_KEY_FILE: file, ...environment }), ({ value }) => value)
      assert.strictEqual(yield* read({}), refusal(`${file}, which MARS_API_KEY_FILE names, does not exist`))
      writeFileSync(file, " \n")
      assert.strictEqual(yield* read({}), refusal(`${file}, which MARS_API_KEY_FILE names, is empty`))
      const both = refusal("MARS_API_KEY and MARS_API_KEY_FILE are both set: remove one of them")
      assert.strictEqual(yield* read({ MARS_API_KEY: "secret" }), both)
      assert.match((yield* read({ MARS_API_KEY_FILE: folder })) ?? "", /cannot be read: EISDIR/)
    })
  )
  it.effect("is not read by a program without that setting", () =>
    Effect.gen(function* () {
      const { value } = yield* readIn({ MARS_API_KEY_FILE: "/missing" }, "LARDER_SOURCES", "larder-serve")
      assert.isUndefined(value)
    })
  )
})

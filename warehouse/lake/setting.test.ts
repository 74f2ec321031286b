import { existsSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { copyMilkHome, lakeOf, readMetrics } from "@larder/test/support/lake/homes.ts"
import { ConfigProvider, Effect } from "effect"
import { DepotUnusable } from "../depot/depot.ts"
import { writeLake, writeLakeIfEnabled } from "./setting.ts"

const withSetting = (value: string | undefined) =>
  Effect.provideService(
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown(value === undefined ? {} : { LARDER_LAKE: value })
  )

const withMilk = copyMilkHome()

describe("the lake", () => {
  itLive("is only written after a publication if it is enabled", () =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      for (const value of [undefined, "no"]) {
        yield* writeLakeIfEnabled(layout).pipe(withSetting(value))
        assert.isFalse(existsSync(lakeOf(layout)))
      }
      yield* writeLakeIfEnabled(layout).pipe(withSetting("yes"))
      assert.deepStrictEqual(yield* readMetrics(layout), ["milk"])
    })
  )
  itLive("does not fail the publication if it cannot be written, and that is reported in one line", (logs) =>
    Effect.gen(function* () {
      const layout = yield* withMilk
      const unwritable = Effect.fail(
        new DepotUnusable({ attempt: "write", cause: new Error("no room"), advice: "Make some." })
      )
      yield* writeLakeIfEnabled({ ...layout, depot: { ...layout.depot, putFile: () => unwritable } }).pipe(
        withSetting("yes")
      )
      assert.deepStrictEqual(
        logs.filter((line) => line.startsWith("Warn")),
        ["Warn: the lake is not up to date, and the next run tries again: Cannot write: no room. Make some."]
      )
      yield* writeLake(layout)
      assert.deepStrictEqual(yield* readMetrics(layout), ["milk"])
    })
  )
})

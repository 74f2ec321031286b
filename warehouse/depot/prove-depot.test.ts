import { assert, describe, it } from "@effect/vitest"
import { aBucket } from "@larder/test/support/depots/networked.ts"
import { itLive } from "@larder/test/support/it-live.ts"
import { Effect, Fiber, FileSystem } from "effect"
import { TestClock } from "effect/testing"
import type { Depot } from "./depot.ts"
import { folderDepot } from "./folder.ts"
import { proveDepot } from "./prove-depot.ts"

describe("the proof of a depot", () => {
  itLive("passes for a service that supports conditions, and removes its files", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      yield* proveDepot(depot)
      assert.deepStrictEqual(service.names(), [])
      assert.isAbove(service.requests.filter((request) => request.startsWith("PUT")).length, 8 * 16)
    })
  )
  itLive("passes for a folder", () =>
    Effect.gen(function* () {
      const folder = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "larder-depot-" }))
      yield* proveDepot(folderDepot(folder))
    })
  )
  itLive("rejects a service that ignores conditions, with the reason, and removes the texts that it wrote", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      service.state.conditions = "ignored"
      const { message } = yield* Effect.flip(proveDepot(depot))
      assert.strictEqual(
        message,
        `Cannot use ${depot.location} as a depot: 2 of 2 sequential writes of the same name succeeded, ` +
          "so two runs could overwrite each other. Use a service that supports If-None-Match: *, such as " +
          "AWS S3, Ceph RGW, MinIO or versitygw, or a folder."
      )
      assert.deepStrictEqual(service.names(), [])
    })
  )
  itLive("rejects a service that applies conditions to sequential requests, but not to concurrent ones", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      service.state.conditions = "applied to sequential requests"
      const { message } = yield* Effect.flip(proveDepot(depot))
      assert.match(message, /: \d+ of 16 concurrent writes of the same name succeeded, so two runs could/)
      assert.deepStrictEqual(service.names(), [])
    })
  )
  itLive("rejects a depot that names the right winner, but stores the text of another", () =>
    Effect.gen(function* () {
      const { depot } = yield* aBucket
      const overwriting: Depot = {
        ...depot,
        putText: (name, text) => Effect.andThen(depot.putHint(`${name}.last`, text), depot.putText(name, text)),
        readText: (name) => depot.readText(`${name}.last`)
      }
      assert.match(
        (yield* Effect.flip(proveDepot(overwriting))).message,
        /: it stored a text other than the first one, so/
      )
    })
  )
  itLive("returns the depot's own error if it cannot be used at all", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      service.plan("PUT", { kind: "refuse", status: 403, code: "AccessDenied" }, 1)
      assert.match(
        (yield* Effect.flip(proveDepot(depot))).message,
        /write proofs\/.*403 AccessDenied.*Allow these credentials/
      )
    })
  )
  it.effect("fails after a minute", () =>
    Effect.gen(function* () {
      const { depot } = yield* aBucket
      const proving = yield* Effect.forkChild(Effect.flip(proveDepot({ ...depot, putText: () => Effect.never })))
      yield* TestClock.adjust("1 minute")
      while (proving.pollUnsafe() === undefined)
        yield* Effect.andThen(
          TestClock.adjust("10 seconds"),
          Effect.promise(() => new Promise(setImmediate))
        )
      assert.match((yield* Fiber.join(proving)).message, /: its test took longer than 1 minute\. Check the network/)
    })
  )
})

import { hostname } from "node:os"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, FileSystem } from "effect"
import { TestClock } from "effect/testing"
import { clearAbandoned } from "./incoming.ts"

const uuid = "0f8fad5b-d9cb-469f-a165-70867728950e"
const noProcess = 4_194_305 // above the highest process id of any system we run on

layer(NodeServices.layer)("partial files of other runs", (it) => {
  it.effect("deletes parts of a dead process, and keeps those of a live one or of another machine", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-incoming-" })
      const dead = `${hostname()}.${noProcess}.${uuid}.part`
      const alive = `${hostname()}.${process.pid}.${uuid}.part`
      const remote = `other-machine.${noProcess}.${uuid}.part`
      for (const name of [dead, alive, remote, "notes.txt"]) yield* fs.writeFileString(`${folder}/${name}`, "x")
      yield* TestClock.setTime(Date.now())
      yield* clearAbandoned(folder)
      assert.sameMembers(yield* fs.readDirectory(folder), [alive, remote, "notes.txt"])
    })
  )

  it.effect("deletes a partial file after an hour without writes, even one of another machine", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-incoming-" })
      yield* TestClock.setTime(Date.now())
      const now = (yield* Clock.currentTimeMillis) / 1000
      for (const [machine, age] of [
        ["old", 3700],
        ["young", 3500]
      ] as const) {
        const part = `${folder}/${machine}.1.${uuid}.part`
        yield* fs.writeFileString(part, "x")
        yield* fs.utimes(part, now - age, now - age)
      }
      yield* clearAbandoned(folder)
      assert.deepStrictEqual(yield* fs.readDirectory(folder), [`young.1.${uuid}.part`])
    })
  )
})

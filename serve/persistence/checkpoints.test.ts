import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import { keepLogShort } from "./checkpoints.ts"
import { readRows } from "./in-thread.ts"
import { openSqlite } from "./sqlite.ts"
import { makeThread } from "./thread.ts"

const inThread = new URL("./in-thread.ts", import.meta.url).href
const twoMegabytes = `
  with recursive row(number) as (select 1 union all select number + 1 from row where number < 1000)
  insert into kept (body) select hex(randomblob(1000)) from row`

describe("the write-ahead log", () => {
  it.each(["the main thread", "a thread"])("is checkpointed after %s has written", async (writer) => {
    const folder = mkdtempSync(path.join(tmpdir(), "larder-log-"))
    const file = path.join(folder, "kept.sqlite")
    const sqlite = openSqlite(file)
    const thread = makeThread({ file })
    sqlite.exec("create table kept (body text not null)")
    const checkpointer = keepLogShort(sqlite, thread, (error) => assert.fail(String(error)))
    try {
      if (writer === "a thread") await thread.run(inThread, readRows, twoMegabytes, [])
      else sqlite.run(twoMegabytes)
      while (statSync(file).size < 2_000_000) await setTimeout(20)
    } finally {
      await checkpointer.close()
      await thread.close()
      sqlite.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("is checkpointed by the writer of sums.sqlite, and does not grow with each batch", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "larder-log-"))
    const sums = path.join(folder, "sums.sqlite")
    const sqlite = openSqlite(path.join(folder, "kept.sqlite"), { durability: "normal", sums })
    try {
      sqlite.exec("create table sums.kept (body text not null)")
      for (let batch = 0; batch < 20; batch++) {
        sqlite.transactionOfSums(() => {
          sqlite.run("delete from sums.kept")
          sqlite.run(twoMegabytes.replace("into kept", "into sums.kept"))
        })
      }
      assert.isBelow(statSync(`${sums}-wal`).size, 24_000_000)
    } finally {
      sqlite.close()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

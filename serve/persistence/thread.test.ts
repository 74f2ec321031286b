import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { count, fail } from "@larder/test/support/persistence/thread-work.ts"
import { openSqlite } from "./sqlite.ts"
import { makeThread } from "./thread.ts"

const work = new URL("../../test/support/persistence/thread-work.ts", import.meta.url).href
const folder = mkdtempSync(path.join(tmpdir(), "larder-thread-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The number of locks of this process on a file, from Linux's list; 0 on other systems. */
const countLocks = (file: string): number => {
  if (!existsSync("/proc/locks")) return 0
  const lines = readFileSync("/proc/locks", "utf8").split("\n")
  return lines.filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${statSync(file).ino} `)).length
}

describe("a thread", () => {
  it("runs exported functions on its own connection, and reports errors", async () => {
    const file = path.join(folder, "runs.sqlite")
    const sqlite = openSqlite(file)
    sqlite.exec("create table t (a); insert into t values (1), (2)")
    const thread = makeThread({ file })
    assert.strictEqual(await thread.run(work, count, 40), 42)
    const error = await thread.run(work, fail).catch((cause: unknown) => cause)
    assert.match(String(error), /no such column: nonsense/)
    assert.strictEqual(await thread.run(work, count, 0), 2)
    await thread.close()
    const closed = await thread.run(work, count, 0).catch((cause: unknown) => cause)
    assert.match(String(closed), /was closed/)
    sqlite.close()
  })

  it("is replaced after a failure, and the late exit of the failed one does no harm", async () => {
    const missing = path.join(folder, "missing")
    const file = path.join(missing, "there.sqlite")
    const thread = makeThread({ file })
    const error = await thread.run(work, count, 0).catch((cause: unknown) => cause)
    assert.match(String(error), /no such file or directory/)
    mkdirSync(missing)
    const sqlite = openSqlite(file)
    sqlite.exec("create table t (a)")
    assert.strictEqual(await thread.run(work, count, 40), 40)
    await thread.close()
    sqlite.close()
  })

  it("finishes its work when it is closed, and its process waits for it", () => {
    const program = `
      import { makeThread } from ${JSON.stringify(new URL("./thread.ts", import.meta.url).href)}
      import { count } from ${JSON.stringify(work)}
      const thread = makeThread({ file: process.argv[2] })
      const counted = thread.run(${JSON.stringify(work)}, count, 40)
      await thread.close()
      console.log(await counted)`
    const file = path.join(folder, "closed.sqlite")
    const sqlite = openSqlite(file)
    sqlite.exec("create table t (a)")
    sqlite.close()
    const script = path.join(folder, "closes.mjs")
    writeFileSync(script, program)
    const { status, stdout } = spawnSync(process.execPath, [script, file])
    assert.deepStrictEqual([status, String(stdout)], [0, "40\n"])
  })

  it("keeps the locks of the process on the file, so no other program removes the log", async () => {
    const file = path.join(folder, "locks.sqlite")
    const sqlite = openSqlite(file)
    sqlite.exec("create table t (a)")
    sqlite.all("select * from t")
    const before = countLocks(file)
    const thread = makeThread({ file })
    await thread.run(work, count, 0)
    assert.isAtLeast(countLocks(file), before)
    assert.isTrue(before > 0 || !existsSync("/proc/locks"))
    await thread.close()
    sqlite.close()
  })
})

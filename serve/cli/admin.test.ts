/** The administrative commands as processes of their own, without a server and beside one. Some 20 seconds. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { scopes } from "@larder/schemas/scopes.ts"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"

const cli = fileURLToPath(new URL("../cli.ts", import.meta.url))
const sibling = (file: string) => JSON.stringify(new URL(file, import.meta.url).href)

/** Holds the ledger and answers commands, as a server does, and charges one call. */
const holder = `
  import { Effect } from "effect"
  import { Ledger } from ${sibling("../ledger/ledger.ts")}
  import { serveControl } from ${sibling("../control.ts")}
  const directory = process.argv[1]
  const hold = Effect.gen(function* () {
    const ledger = yield* Ledger
    yield* serveControl(directory, ledger.administration)
    process.stdin.on("data", async (token) => {
      const key = ledger.authenticate(String(token))
      const admission = key && ledger.hold(key.id, "/v1/stores", 100, Date.now())
      if (admission?.hold) await ledger.commit(admission.hold, "req_" + Math.random())
      console.log(key === undefined ? "unknown" : admission.refused ?? "charged")
    })
    console.log("ready")
    yield* Effect.never
  })
  const running = Effect.runFork(hold.pipe(Effect.scoped, Effect.provide(Ledger.layer(directory))))
  process.on("SIGTERM", () => { running.interruptUnsafe(); process.stdin.destroy() })
`

let home = ""
const children: Array<ChildProcess> = []
beforeAll(() => {
  home = mkdtempSync(path.join(tmpdir(), "larder-home-"))
})
afterAll(() => {
  for (const child of children) child.kill("SIGKILL")
  rmSync(home, { recursive: true, force: true })
})

const start = (args: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, args, { env: { LARDER_HOME: home, PATH: process.env["PATH"] } })
  children.push(child)
  return child
}
`` 

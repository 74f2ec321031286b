/** A new home for each test, commands that use it, and holders of its ledger that behave like a server. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { createInterface } from "node:readline"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { Effect, Exit, Scope } from "effect"
import { afterEach, beforeEach } from "vitest"
import { cleanEnvironment, type Environment, run } from "../support/programs.ts"
import { holdLedger } from "./ledger-holder.ts"

const holder = fileURLToPath(new URL("./ledger-process.ts", import.meta.url))

/** Adds hooks to the test file that calls it. */
export const useLarderHome = () => {
  let home = ""
  let holders: ReadonlyArray<ChildProcess> = []
  let stops: ReadonlyArray<() => Promise<void>> = []
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), "larder-home-"))
  })
  afterEach(async () => {
    await Promise.all(stops.map((stop) => stop()))
    stops = []
    for (const child of holders) child.kill("SIGKILL")
    holders = []
    rmSync(home, { recursive: true, force: true })
  })
  const ledgerFolder = () => path.join(home, "ledger")

  const larder = async (args: ReadonlyArray<string>, environment: Environment = {}) => {
    const { signal: _, ...ended } = await run("larder-serve", args, { LARDER_HOME: home, ...environment })
    return ended
  }
  /** Runs a command with --json, and parses its output. */
  const json = async (args: ReadonlyArray<string>, environment?: Environment) => {
    const { code, stderr, stdout } = await larder([...args, "--json"], environment)
    if (code !== 0) throw new Error(`larder-serve ${args.join(" ")} exited with ${code}:\n${stderr}`)
    return JSON.parse(stdout)
  }

  /** Holds the ledger in this process; commands run in another process. */
  const startServer = async () => {
    const scope = Scope.makeUnsafe()
    const stop = () => Effect.runPromise(Scope.close(scope, Exit.void)) // idempotent
    stops = [...stops, stop]
    const call = await Effect.runPromise(Scope.provide(holdLedger(ledgerFolder()), scope))
    return { call: (token: string) => Effect.runPromise(call(token)), stop }
  }

  /** Holds the ledger in a separate process, which can be killed. */
  const startServerProcess = async () => {
    const child = spawn(process.execPath, [holder, ledgerFolder()], { env: cleanEnvironment({}) })
    holders = [...holders, child]
    const stderr = text(child.stderr)
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const line = async () => String((await lines.next()).value)
    const ready = await line()
    if (ready !== "ready") {
      child.kill("SIGKILL")
      throw new Error(`the ledger process first printed ${ready}\n${await stderr}`)
    }
    return {
      /** Charges a call to the key, and returns the outcome. */
      call: async (token: string) => {
        child.stdin.write(`${token}\n`)
        return line()
      },
      kill: async () => {
        const ended = once(child, "exit")
        child.kill("SIGKILL")
        await ended
      }
    }
  }
  return { ledgerFolder, larder, json, startServer, startServerProcess }
}

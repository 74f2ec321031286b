/** A home of its own for each test, the commands in it, and what holds its ledger as a server does. */
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

/** Registers its start and its end with the file's hooks. */
export const larderInAHome = () => {
  let home = ""
  let holders: ReadonlyArray<ChildProcess> = []
  let ends: ReadonlyArray<() => Promise<void>> = []
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), "larder-home-"))
  })
  afterEach(async () => {
    await Promise.all(ends.map((end) => end()))
    ends = []
    for (const child of holders) child.kill("SIGKILL")
    holders = []
    rmSync(home, { recursive: true, force: true })
  })
  const ledgerFolder = () => path.join(home, "ledger")

  const larder = async (args: ReadonlyArray<string>, environment: Environment = {}) => {
    const { code, stderr, stdout } = await run("larder-serve", args, { LARDER_HOME: home, ...environment })
    return { code, stdout, stderr }
  }
  /** What a command prints with --json. */
  const json = async (args: ReadonlyArray<string>, environment?: Environment) => {
    const { code, stderr, stdout } = await larder([...args, "--json"], environment)
    if (code !== 0) throw new Error(`larder-serve ${args.join(" ")} ended with ${code}:\n${stderr}`)
    return JSON.parse(stdout)
  }

  /** In this process: commands run in another one, which finds the ledger held. */
  const server = async () => {
    const scope = Scope.makeUnsafe()
    const end = () => Effect.runPromise(Scope.close(scope, Exit.void)) // once more, it does nothing
    ends = [...ends, end]
    const call = await Effect.runPromise(Scope.provide(holdLedger(ledgerFolder()), scope))
    return { call: (token: string) => Effect.runPromise(call(token)), end }
  }

  /** In a process of its own, which can be killed, and finds the ledger held by another one. */
  const serverProcess = async () => {
    const child = spawn(process.execPath, [holder, ledgerFolder()], { env: cleanEnvironment({}) })
    holders = [...holders, child]
    const stderr = text(child.stderr)
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const line = async () => String((await lines.next()).value)
    const ready = await line()
    if (ready !== "ready") {
      child.kill("SIGKILL")
      throw new Error(`the holder of the ledger began with ${ready}\n${await stderr}`)
    }
    return {
      /** Charges a call to the key, and tells what came of it. */
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
  return { ledgerFolder, larder, json, server, serverProcess }
}

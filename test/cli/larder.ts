/** A home of its own for each test, the commands in it, and a process that holds its ledger as a server does. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { createInterface } from "node:readline"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach } from "vitest"
import { clean, type Environment, run } from "../support/programs.ts"

const holder = fileURLToPath(new URL("./ledger-holder.ts", import.meta.url))

/** Registers its start and its end with the file's hooks. */
export const larderInAHome = () => {
  let home = ""
  let holders: ReadonlyArray<ChildProcess> = []
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), "larder-home-"))
  })
  afterEach(() => {
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

  const server = async () => {
    const child = spawn(process.execPath, [holder, ledgerFolder()], { env: clean({}) })
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
      end: async (signal: "SIGTERM" | "SIGKILL" = "SIGTERM") => {
        const ended = once(child, "exit")
        child.kill(signal)
        await ended
      }
    }
  }
  return { ledgerFolder, larder, json, server }
}

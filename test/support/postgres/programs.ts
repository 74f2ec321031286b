/** Runs `initdb` and `postgres` in one folder, as a user that PostgreSQL accepts, with one log. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chownSync, closeSync, openSync, readFileSync } from "node:fs"
import path from "node:path"
import { findBinaries, type Owner } from "./binaries.ts"

export interface RunningProgram {
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
}

/** `watch` receives the id of each process that starts, and 0 when it has ended. */
export const programsIn = (home: string, watch: (pid: number) => unknown) => {
  const owner = findServerOwner()
  const changeOwner = (file: string) => owner && chownSync(file, owner.uid, owner.gid)
  changeOwner(home)
  const bin = findBinaries(home, owner)
  const log = path.join(home, "log")

  const run = async (program: "initdb" | "postgres", args: ReadonlyArray<string>): Promise<RunningProgram> => {
    const file = path.join(bin, program)
    const output = openSync(log, "a")
    const child = spawn(file, args, {
      ...owner,
      cwd: home,
      env: makeEnvironment(),
      // In its own session, Ctrl-C reaches only the tests, which then stop the server themselves.
      detached: true,
      stdio: ["ignore", output, output]
    })
    closeSync(output)
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
    await once(child, "spawn").catch((cause) => {
      const user = owner ? ` as the user "nobody" (it refuses root), who must be able to reach it and ${home}` : ""
      throw new Error(`cannot run ${file}${user}: ${cause.message}`, { cause })
    })
    watch(child.pid ?? 0)
    return { child, ended: ended.then(() => watch(0)) }
  }

  const toError = (problem: string) => {
    const end = readFileSync(log, "utf8").trim().split("\n").slice(-20)
    return new Error(`PostgreSQL from ${bin}: ${problem}; the end of its log:\n${end.join("\n")}`)
  }
  return { run, toError, changeOwner }
}

/** PostgreSQL refuses to run as root, and tests in a container often run as root. */
const findServerOwner = (): Owner => {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

/** Ignores PGHOST, LANG and similar variables of the user. */
const makeEnvironment = () => {
  const variables = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name))
  return { ...Object.fromEntries(variables), LC_ALL: "C", TZ: "UTC" }
}

export const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

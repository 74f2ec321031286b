/** Runs `initdb` and `postgres` in one folder, as a user that PostgreSQL accepts, with one log. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chownSync, closeSync, openSync, readFileSync } from "node:fs"
import path from "node:path"
import { binaries, type Owner } from "./binaries.ts"

export interface Begun {
  readonly child: ChildProcess
  readonly ended: Promise<unknown>
}

/** `watch` is told the id of each process that begins, and 0 when it ended. */
export const programsIn = (home: string, watch: (pid: number) => unknown) => {
  const owner = serverOwner()
  const own = (file: string) => owner && chownSync(file, owner.uid, owner.gid)
  own(home)
  const bin = binaries(home, owner)
  const log = path.join(home, "log")

  const begin = async (program: "initdb" | "postgres", args: ReadonlyArray<string>): Promise<Begun> => {
    const file = path.join(bin, program)
    const output = openSync(log, "a")
    const child = spawn(file, args, {
      ...owner,
      cwd: home,
      env: environment(),
      // A session of its own: Ctrl-C is for the tests, which then end the server in their order.
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

  const failed = (what: string) => {
    const end = readFileSync(log, "utf8").trim().split("\n").slice(-20)
    return new Error(`PostgreSQL from ${bin}: ${what}; the end of its log:\n${end.join("\n")}`)
  }
  return { begin, failed, own }
}

/** PostgreSQL refuses to run as root, which is what tests in a container often are. */
const serverOwner = (): Owner => {
  if (process.getuid?.() !== 0) return undefined
  const id = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }))
  return { uid: id("-u"), gid: id("-g") }
}

/** Whoever runs the tests may have a PGHOST or a LANG of their own. */
const environment = () => {
  const own = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name))
  return { ...Object.fromEntries(own), LC_ALL: "C", TZ: "UTC" }
}

export const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

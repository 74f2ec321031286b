/**
 * Starts a real PostgreSQL server in a temporary folder, on 127.0.0.1, with a password. It can be killed and started again,
 * and flushes its log before each commit like a server in production. `postgres/binaries.ts` finds its programs, and
 * `postgres/watchdog.ts` ends it with the process that started it.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { crash } from "./crash.ts"
import { newDatabase } from "./new-database.ts"
import { freePort } from "./port.ts"
import { hasEnded, programsIn } from "./programs.ts"

export interface Postgres {
  /** The URL of the superuser, for `newDatabase`. */
  readonly url: string
  readonly newDatabase: () => Promise<string>
  /** Kills the postmaster and all its backends with SIGKILL, like a power failure. */
  readonly kill: () => Promise<void>
  /** Stops the server cleanly, and keeps the data. */
  readonly stop: () => Promise<void>
  /** Starts again with the same data and port, and returns when it accepts connections, recovery included. */
  readonly restart: () => Promise<void>
  /** Ends the server, if it runs, and removes its folder. */
  readonly remove: () => Promise<void>
}

/** `more` are further settings, such as `jit=off`. */
export const startPostgres = async (moreSettings: ReadonlyArray<string> = []): Promise<Postgres> => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-postgres-"))
  const watchdog = spawn(process.execPath, [fileURLToPath(new URL("./watchdog.ts", import.meta.url)), home], {
    detached: true,
    stdio: ["pipe", "ignore", "inherit"]
  })
  watchdog.unref()
  const remove = async () => {
    if (hasEnded(watchdog)) return
    const ended = once(watchdog, "exit")
    watchdog.ref()
    watchdog.stdin.end()
    const [code] = await ended
    if (code !== 0) throw new Error(`the watchdog of PostgreSQL exited with ${code} and may not have removed ${home}`)
  }
  try {
    const watch = (pid: number) => watchdog.stdin.writableEnded || watchdog.stdin.write(`${pid}\n`)
    return { ...(await startServerIn(home, watch, moreSettings)), remove }
  } catch (cause) {
    await remove()
    throw cause
  }
}

const startServerIn = async (
  home: string,
  watch: (pid: number) => unknown,
  moreSettings: ReadonlyArray<string>
): Promise<Omit<Postgres, "remove">> => {
  const programs = programsIn(home, watch)
  const data = path.join(home, "data")
  const password = await initialise(programs, home, data)
  const port = await freePort()
  const settings = [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    "unix_socket_directories=",
    "max_connections=200",
    ...moreSettings
  ]

  const launch = async () => {
    const server = await programs.run("postgres", ["-D", data, ...settings.flatMap((setting) => ["-c", setting])])
    for (let waited = 0; !(await isReady(data, server.child)); waited += 10) {
      if (hasEnded(server.child)) throw programs.toError("it ended before it accepted connections")
      if (waited > 60_000) throw programs.toError("it accepts no connections after a minute")
      await sleep(10)
    }
    server.child.unref()
    return server
  }
  let server = await launch()
  const end = async (how: (child: ChildProcess) => unknown) => {
    if (hasEnded(server.child)) return
    server.child.ref()
    await how(server.child)
    await server.ended
  }
  const url = `postgres://larder:${password}@127.0.0.1:${port}/postgres`
  return {
    url,
    newDatabase: () => newDatabase(url),
    kill: () => end(({ pid }) => crash(pid ?? 0)),
    stop: () => end((child) => child.kill("SIGINT")),
    restart: async () => {
      if (!hasEnded(server.child)) throw new Error("PostgreSQL still runs: stop() or kill() it before restart()")
      server = await launch()
    }
  }
}

/** Only the creation of the folder works without flushes. The server keeps `fsync` on, which crash tests rely on. */
const initialise = async ({ changeOwner, run, toError }: ReturnType<typeof programsIn>, home: string, data: string) => {
  const password = randomBytes(12).toString("hex")
  const file = path.join(home, "password")
  writeFileSync(file, password, { mode: 0o600 })
  changeOwner(file)
  const accounts = ["--username", "larder", "--auth", "scram-sha-256", "--pwfile", file]
  const initdb = await run("initdb", ["-D", data, ...accounts, "--locale", "C", "--encoding", "UTF8", "--no-sync"])
  await initdb.ended
  rmSync(file)
  if (initdb.child.exitCode !== 0) throw toError("initdb could not create a data folder")
  return password
}

/** The eighth line of `postmaster.pid` contains the state. The file of a killed server remains, with its old id. */
const isReady = async (data: string, postmaster: ChildProcess) => {
  const notYet = () => ""
  const lines = (await readFile(path.join(data, "postmaster.pid"), "utf8").catch(notYet)).split("\n")
  return lines[0] === String(postmaster.pid) && lines[7]?.trim() === "ready"
}

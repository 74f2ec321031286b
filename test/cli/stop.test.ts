/** How a server stops: by which signals, with which exit code, and what it still responds to. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import type { Readable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { cleanEnvironment, newKey, type Server, startServer, waitForExit } from "../support/programs.ts"
import { repository } from "../support/repository.ts"
import { copyHome } from "../support/sample-home.ts"

let home = ""
let key = ""
beforeAll(async () => {
  home = copyHome(inject("sampleHome"))
  key = (await newKey(home)).key
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

const settings = () => ({ LARDER_HOME: home, LARDER_PORT: "0", LARDER_CONSOLE_PORT: "0" })
const program = path.join(repository, "serve/bin/larder-serve.mjs")
const spawnProgram = (
  command: string,
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string | undefined>> = {}
) =>
  spawn(command, args, { env: { ...cleanEnvironment(settings()), ...environment }, stdio: ["ignore", "pipe", "pipe"] })

/** Runs a program on a pseudo-terminal, closes it after the first line, and exits with the code of the program. */
const onTerminal = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
text = b""
while b'"api"' not in text: text += os.read(terminal, 65536)
os.close(terminal)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))`

const body = "x".repeat(1_000)
/** A call in flight: the server waits for the rest of its body. */
const startCall = async (api: string) => {
  const { hostname, port } = new URL(api)
  const socket = connect(Number(port), hostname).setEncoding("utf8")
  let text = ""
  socket.on("data", (piece) => {
    text += piece
  })
  socket.on("error", () => undefined)
  const head = ["POST /mcp HTTP/1.1", "Host: localhost", "Content-Type: application/json", "Expect: 100-continue"]
  socket.write([...head, `Authorization: Bearer ${key}`, `Content-Length: ${body.length}`, "", ""].join("\r\n"))
  await once(socket, "data")
  text = ""
  const closed = once(socket, "close")
  return {
    finish: async () => {
      socket.end(body)
      await closed
      return text
    },
    closed: async () => {
      await closed
      return text
    }
  }
}

const isReady = async (server: Server) => {
  const response = await fetch(`${server.console}/readyz`)
  return [response.status, ((await response.json()) as { readonly status: string }).status]
}

describe("a server", () => {
  it("completes calls in flight after Ctrl-C, even if several processes pass it on, and exits with 0", async () => {
    const server = await startServer(home)
    const exit = once(server.child, "exit")
    const call = await startCall(server.api)
    for (const signal of ["SIGINT", "SIGINT", "SIGTERM"] as const) server.child.kill(signal)
    await expect.poll(() => fetch(`${server.api}/openapi.json`).catch(() => "closed")).toBe("closed")
    expect(await call.finish()).toMatch(/^HTTP\/1\.1 400 .*Connection: close/s)
    expect(await exit).toEqual([0, null])
  })

  it("ignores SIGHUP without a terminal; it serves for LARDER_STOP_DELAY while it is not ready, and until a second signal", async () => {
    const server = await startServer(home, { LARDER_STOP_DELAY: "2 minutes" })
    server.child.kill("SIGHUP")
    expect(await isReady(server)).toEqual([200, "ready"])
    const call = await startCall(server.api)
    server.child.kill("SIGTERM")
    await expect.poll(() => isReady(server)).toEqual([503, "stopping"])
    expect((await fetch(`${server.console}/healthz`)).status).toBe(200)
    expect((await fetch(`${server.api}/openapi.json`)).status).toBe(200)
    await sleep(400) // within 300 ms it would count as the same signal
    expect(await server.stop()).toBe(0)
    expect(await call.closed()).toBe("")
  })

  it("exits with 0 when its terminal is closed", async () => {
    const server = spawnProgram("python3", ["-c", onTerminal, process.execPath, program, "start", "--json"])
    expect(await waitForExit(server)).toMatchObject({ code: 0, stderr: "" })
  })

  it("exits with 0 if it is asked to stop before it listens", async () => {
    const report = `process.on("newListener", (name) => name === "SIGTERM" && process.stderr.write("handled"))`
    const child = spawnProgram(process.execPath, [program, "start", "--json"], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(report)}`
    })
    const exit = waitForExit(child)
    await once(child.stderr as Readable, "data")
    child.kill("SIGTERM")
    expect(await exit).toMatchObject({ code: 0, stdout: "" })
  })

  it("logs that it has no file descriptor left, once for many connections, and serves when there are some again", async () => {
    const limit = 128
    const limited = `ulimit -n ${limit}; exec "$@"`
    const child = spawnProgram("sh", ["-c", limited, "sh", process.execPath, program, "start", "--json"])
    const exit = waitForExit(child)
    const [line] = await once(child.stdout as Readable, "data")
    const { api } = JSON.parse(String(line)) as { readonly api: string }
    const sockets = Array.from({ length: limit }, () => connect(Number(new URL(api).port), "127.0.0.1"))
    for (const socket of sockets) socket.on("error", () => undefined)
    let log = ""
    child.stderr?.on("data", (piece) => {
      log += piece
    })
    await expect.poll(() => log).toContain("no file descriptor left")
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => fetch(`${api}/openapi.json`).then(({ status }) => status, String)).toBe(200)
    child.kill()
    const { code, stderr } = await exit
    expect([code, stderr.match(/no file descriptor left.*ulimit -n.*LimitNOFILE/g)]).toEqual([0, [expect.anything()]])
  })
})

/** Starts a program in another process, and prints its id. */
const starter = `
const { spawn } = require("node:child_process")
const [command, ...args] = process.argv.slice(1)
console.error(spawn(command, args, { stdio: "inherit" }).pid)`
/** As npm does it: a shell that waits for the program. */
const inShell = ["sh", "-c", '"$@"; exit $?', "sh"]

describe("a server whose starter is killed", () => {
  const startAndKill = async (npmCommand: string | undefined, shell: ReadonlyArray<string> = []) => {
    const command = [...shell, process.execPath, program, "start", "--json"]
    const child = spawnProgram(process.execPath, ["-e", starter, ...command], { npm_command: npmCommand })
    const [pid, line] = await Promise.all(
      [child.stderr, child.stdout].map((stream) => once(stream as Readable, "data"))
    )
    const { api } = JSON.parse(String(line)) as { readonly api: string }
    child.kill("SIGKILL")
    return { api, pid: Number.parseInt(String(pid), 10), outputClosed: once(child, "close") }
  }

  it.each([
    ["directly", []],
    ["through a shell, which survives", inShell]
  ] as const)("stops if npm or npx started it %s", async (_, shell) => {
    const { api, outputClosed } = await startAndKill("start", shell)
    await outputClosed
    await expect(fetch(api)).rejects.toThrow()
  })

  it("serves on otherwise", async () => {
    const { api, outputClosed, pid } = await startAndKill(undefined)
    await sleep(1_000) // the parent is looked at twice a second
    expect((await fetch(`${api}/openapi.json`)).status).toBe(200)
    process.kill(pid)
    await outputClosed
  })
})

describe("npm start that is stopped while it ingests", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGKILL", null]
  ] as const)("ends its ingestion too, and starts no server: %s", async (signal, code) => {
    const empty = mkdtempSync(path.join(tmpdir(), "larder-stopped-"))
    const child = spawnProgram(process.execPath, [path.join(repository, "bin/start.mjs")], { LARDER_HOME: empty })
    const exit = waitForExit(child)
    await expect.poll(() => existsSync(path.join(empty, "warehouse"))).toBe(true)
    child.kill(signal)
    const ended = await exit
    rmSync(empty, { recursive: true, force: true })
    expect([ended.code, ended.stdout]).toEqual([code, ""])
  })
})

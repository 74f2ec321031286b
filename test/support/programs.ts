/**
 * The two programs as real processes: what a test runs is what a user runs. Commands that a test waits for share one
 * process; a server, and whatever is watched or killed, has its own.
 */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import path from "node:path"
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import { nodeFlags } from "./node-flags.ts"
import { repository } from "./repository.ts"

export type Environment = Readonly<Record<string, string>>
const binary = {
  "larder-ingest": path.join(repository, "pipelines/bin/larder-ingest.mjs"),
  "larder-serve": path.join(repository, "serve/bin/larder-serve.mjs")
}
export type Program = keyof typeof binary

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** Settings of whoever runs the tests must not reach the programs under test. */
export const cleanEnvironment = (environment: Environment) => {
  const own = Object.entries(process.env).filter(([name]) => !/^(LARDER_|MARS_API_KEY|(https?|no)_proxy$)/i.test(name))
  return { ...Object.fromEntries(own), ...environment }
}

export const start = (program: Program, args: ReadonlyArray<string>, environment: Environment): ChildProcess =>
  spawn(process.execPath, [binary[program], ...args], {
    env: cleanEnvironment(environment),
    stdio: ["ignore", "pipe", "pipe"]
  })

const textOf = (stream: NodeJS.ReadableStream | null) => {
  let text = ""
  stream?.setEncoding("utf8").on("data", (piece) => {
    text += piece
  })
  return () => text
}

export const waitForExit = (child: ChildProcess): Promise<Ended> => {
  const stdout = textOf(child.stdout)
  const stderr = textOf(child.stderr)
  return new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code, signal) => resolve({ code, signal, stdout: stdout(), stderr: stderr() }))
  })
}

export interface Command {
  readonly program: Program
  readonly args: ReadonlyArray<string>
  readonly environment: Environment
}

/** Settings that a program reads for each command. With any other setting it may load other code. */
const readEachTime = new Set([
  ...["LARDER_HOME", "LARDER_SOURCES", "LARDER_LEDGER_URL"],
  ...["LARDER_STORES", "LARDER_STORE_FILES", "LARDER_PRIVATE_HOSTS"],
  ...["LARDER_CONSOLE_URL", "LARDER_HOST", "LARDER_PORT", "LARDER_CONSOLE_PORT", "LARDER_API_KEY"],
  ...["LARDER_DEPOT", "LARDER_DEPOT_POLL", "LARDER_DEPOT_PUBLIC_KEY", "LARDER_KEPT_GENERATIONS", "LARDER_LAKE"],
  ...["AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
])
/** A command that ends, and that does not pipe a file to its output. */
const canShare = ({ args, environment, program }: Command) =>
  Object.keys(environment).every((name) => readEachTime.has(name)) &&
  !(program === "larder-serve" && args[0] === "start") &&
  !args.some((arg) => arg === "--csv" || arg === "--parquet")

let shared: ChildProcess | undefined
let isBusy = false

const startShared = () =>
  fork(path.join(repository, "test/support/commands.ts"), {
    env: cleanEnvironment({ UV_THREADPOOL_SIZE: "16" }), // as `launch.mjs` sets it
    execArgv: nodeFlags,
    stdio: ["ignore", "inherit", "inherit", "ipc"]
  })

/** It is waited for while it works; idle, it ends with this process. */
const isWaitedFor = (child: ChildProcess, is: boolean) => {
  for (const handle of [child, child.channel]) is ? handle?.ref() : handle?.unref()
}

/** Runs a command in the process that this test file keeps for them. */
const runShared = async (command: Command): Promise<Ended> => {
  isBusy = true
  shared ??= startShared()
  const child = shared
  isWaitedFor(child, true)
  const over = new AbortController()
  try {
    const answered = once(child, "message", over)
    const lost = once(child, "exit", over)
    child.send(command)
    const [ended] = await Promise.race([answered, lost.then(([code]) => [lostCommand(command, code)])])
    return ended
  } finally {
    over.abort()
    isWaitedFor(child, false)
    isBusy = false
  }
}

const lostCommand = ({ args, program }: Command, code: unknown) => {
  shared = undefined
  throw new Error(`test/support/commands.ts ended with ${code} while it ran ${program} ${args.join(" ")}`)
}

/** Runs a program to its end. What runs beside another one has a process of its own: DuckDB's locks are between processes. */
export const run = (program: Program, args: ReadonlyArray<string>, environment: Environment): Promise<Ended> => {
  const command = { program, args, environment }
  return isBusy || !canShare(command) ? waitForExit(start(program, args, environment)) : runShared(command)
}

export interface Server {
  readonly api: string
  readonly console: string
  readonly payments: "simulated" | "test" | "live"
  /** With `--demo`: the printed way into the console; null where somebody can sign in already. */
  readonly first_link: string | null
  readonly child: ChildProcess
  /** What it logged so far. */
  readonly logs: () => string
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>
}

/** Starts a server on free ports and waits for its addresses. */
export const startServer = async (
  home: string,
  environment: Environment = {},
  flags: ReadonlyArray<string> = []
): Promise<Server> => {
  const child = start("larder-serve", ["start", "--json", ...flags], {
    LARDER_HOME: home,
    LARDER_PORT: "0",
    LARDER_CONSOLE_PORT: "0",
    ...environment
  })
  const logs = textOf(child.stderr)
  const closed = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)))
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  const first = await Promise.race([
    new Promise<string>((resolve) => lines.once("line", resolve)),
    closed.then((code) => Promise.reject(new Error(`larder-serve ended with ${code} before it listened:\n${logs()}`)))
  ])
  return {
    ...(JSON.parse(first) as Pick<Server, "api" | "console" | "payments" | "first_link">),
    child,
    logs,
    stop: (signal = "SIGTERM") => {
      child.kill(signal)
      return closed
    }
  }
}

/** Waits until a server has taken a generation over: it looks four times a second. Its console says so, and costs nothing. */
export const waitUntilServed = async ({ console }: Pick<Server, "console">, generation: unknown): Promise<void> => {
  for (let looks = 0; looks < 1200; looks++) {
    const ready = (await (await fetch(`${console}/readyz`)).json()) as { readonly generation: string }
    if (ready.generation === generation) return
    await setTimeout(50)
  }
  throw new Error(`${generation} was never served`)
}

const printed = async (home: string, args: ReadonlyArray<string>, environment: Environment): Promise<string> => {
  const { code, stderr, stdout } = await run("larder-serve", [...args, "--json"], { LARDER_HOME: home, ...environment })
  if (code !== 0) throw new Error(`larder-serve ${args.join(" ")} ended with ${code}:\n${stderr}`)
  return stdout
}

/** Runs an administrative command and reads its JSON. */
export const admin = async <A>(home: string, args: ReadonlyArray<string>, environment: Environment = {}): Promise<A> =>
  JSON.parse(await printed(home, args, environment)) as A

/** The same for a command that prints one JSON value a line. */
export const adminLines = async <A>(
  home: string,
  args: ReadonlyArray<string>,
  environment: Environment = {}
): Promise<ReadonlyArray<A>> => {
  const lines = (await printed(home, args, environment)).split("\n").filter((line) => line !== "")
  return lines.map((line) => JSON.parse(line) as A)
}

export interface CreatedKey {
  readonly id: string
  readonly key: string
  readonly account_id: string
}

interface KeyOptions {
  readonly scopes?: string
  readonly budget?: string
  /** Credited beyond the 5,000 credits. */
  readonly usd?: string
  readonly environment?: Environment
}

/** A new account with its 5,000 credits, and a key of it. */
export const newKey = async (
  home: string,
  { budget = "100", environment = {}, scopes = "all", usd }: KeyOptions = {}
): Promise<CreatedKey> => {
  const account = await admin<{ readonly id: string }>(home, ["accounts", "create", "--name", "Test"], environment)
  const credit = ["accounts", "credit", "--account", account.id, "--note", "test"]
  if (usd !== undefined) await admin(home, [...credit, "--usd", usd], environment)
  const settings = ["--name", "test", "--scopes", scopes, "--budget-usd", budget]
  return admin(home, ["keys", "create", "--account", account.id, ...settings], environment)
}

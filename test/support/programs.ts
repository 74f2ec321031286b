/**
 * Runs the two programs as real processes, as users do. Commands whose end a test awaits share one process. A server,
 * and a command that a test observes or kills, has its own.
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
  "larder-ingest": "pipelines/bin/larder-ingest.mjs",
  "larder-serve": "serve/bin/larder-serve.mjs"
}
export type Program = keyof typeof binary

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** The errors and warnings in `stderr`, as lines of text. */
  readonly problems: string
}

/** Reads a log: what is wrong, as a terminal would show it. Lines that are not of the log, as from npm, are left out. */
export const readProblems = (stderr: string) =>
  stderr
    .split("\n")
    .flatMap((line) => (/"level":"(ERROR|WARN)"/.test(line) ? [`${JSON.parse(line).event}\n`] : []))
    .join("")

/** Settings of the person who runs the tests. The last one would make Python compile its packages at each start. */
const personal = /^(LARDER_|MARS_API_KEY|(https?|no)_proxy$|PYTHONDONTWRITEBYTECODE$)/i

/** The environment of a program under test, without the settings of the person who runs the tests. */
export const cleanEnvironment = (environment: Environment) => {
  const own = Object.entries(process.env).filter(([name]) => !personal.test(name))
  return { ...Object.fromEntries(own), ...environment }
}

/** Benchmarks also start the programs of another checkout of the repository. */
export const start = (
  program: Program,
  args: ReadonlyArray<string>,
  environment: Environment,
  checkout: string = repository
): ChildProcess =>
  spawn(process.execPath, [path.join(checkout, binary[program]), ...args], {
    env: cleanEnvironment(environment),
    stdio: ["ignore", "pipe", "pipe"]
  })

/** Returns the text so far. */
export const collectText = (stream: NodeJS.ReadableStream | null) => {
  let text = ""
  stream?.setEncoding("utf8").on("data", (piece) => {
    text += piece
  })
  return () => text
}

export const waitForExit = (child: ChildProcess): Promise<Ended> => {
  const stdout = collectText(child.stdout)
  const stderr = collectText(child.stderr)
  return new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code, signal) =>
      resolve({ code, signal, stdout: stdout(), stderr: stderr(), problems: readProblems(stderr()) })
    )
  })
}

export interface Command {
  readonly program: Program
  readonly args: ReadonlyArray<string>
  readonly environment: Environment
}

/** Settings that a program reads again for each command. Any other setting may change the code that it loads. */
const rereadSettings = new Set([
  ...["LARDER_HOME", "LARDER_SOURCES", "LARDER_LEDGER_URL", "LARDER_CATALOG"],
  ...["LARDER_STORES", "LARDER_STORE_FILES", "LARDER_PRIVATE_HOSTS"],
  ...["LARDER_CONSOLE_URL", "LARDER_HOST", "LARDER_PORT", "LARDER_CONSOLE_PORT", "LARDER_API_KEY"],
  ...["LARDER_NOTIFY_URL", "LARDER_NOTIFY_SECRET", "LARDER_SMTP_URL", "LARDER_MAIL_FROM"],
  ...["LARDER_DEPOT", "LARDER_DEPOT_POLL", "LARDER_DEPOT_PUBLIC_KEY", "LARDER_KEPT_GENERATIONS", "LARDER_LAKE"],
  ...["AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
])
/** Whether the shared process can run a command: it ends, and does not pipe a file to its output. */
const canShare = ({ args, environment, program }: Command) =>
  Object.keys(environment).every((name) => rereadSettings.has(name)) &&
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

/** While it is busy, this process waits for it. When it is idle, it ends with this process. */
const setBusy = (child: ChildProcess, busy: boolean) => {
  isBusy = busy
  for (const handle of [child, child.channel]) busy ? handle?.ref() : handle?.unref()
}

/** Runs a command in the process that this test file shares for commands. */
const runShared = async (command: Command): Promise<Ended> => {
  shared ??= startShared()
  const child = shared
  setBusy(child, true)
  const listeners = new AbortController()
  try {
    const message = once(child, "message", listeners)
    const exit = once(child, "exit", listeners)
    child.send(command)
    const [result] = await Promise.race([message, exit.then(([code]) => throwLostProcess(command, code))])
    return { ...result, problems: readProblems(result.stderr) }
  } finally {
    listeners.abort()
    setBusy(child, false)
  }
}

const throwLostProcess = ({ args, program }: Command, code: unknown): never => {
  shared = undefined
  throw new Error(`test/support/commands.ts exited with ${code} while it ran ${program} ${args.join(" ")}`)
}

/** Runs a program until it ends. A command that runs during another one has its own process: DuckDB locks files between processes. */
export const run = (
  program: Program,
  args: ReadonlyArray<string>,
  environment: Environment,
  checkout: string = repository
): Promise<Ended> => {
  const command = { program, args, environment }
  const shares = !isBusy && checkout === repository && canShare(command)
  return shares ? runShared(command) : waitForExit(start(program, args, environment, checkout))
}

export interface Server {
  readonly api: string
  readonly console: string
  readonly payments: "simulated" | "test" | "live"
  /** With `--demo`, the printed sign-in link of the console; null if anyone can sign in already. */
  readonly first_link: string | null
  readonly child: ChildProcess
  /** The log lines so far. */
  readonly logs: () => string
  readonly stop: (signal?: NodeJS.Signals) => Promise<number | null>
}

/** Starts a server on free ports, and waits until it prints its addresses. */
export const startServer = async (
  home: string,
  environment: Environment = {},
  flags: ReadonlyArray<string> = [],
  checkout: string = repository
): Promise<Server> => {
  const addresses = { LARDER_HOME: home, LARDER_PORT: "0", LARDER_CONSOLE_PORT: "0" }
  const child = start("larder-serve", ["start", "--json", ...flags], { ...addresses, ...environment }, checkout)
  const logs = collectText(child.stderr)
  const closed = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)))
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  const first = await Promise.race([
    new Promise<string>((resolve) => lines.once("line", resolve)),
    closed.then((code) => Promise.reject(new Error(`larder-serve exited with ${code} before it listened:\n${logs()}`)))
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

/** Waits until a server serves a generation. The server polls four times a second. Requests to its console are free. */
export const waitUntilServed = async ({ console }: Pick<Server, "console">, generation: unknown): Promise<void> => {
  for (let attempt = 0; attempt < 1200; attempt++) {
    const ready = (await (await fetch(`${console}/readyz`)).json()) as { readonly generation: string }
    if (ready.generation === generation) return
    await setTimeout(50)
  }
  throw new Error(`${generation} is not served after a minute`)
}

const runAdmin = async (
  home: string,
  args: ReadonlyArray<string>,
  environment: Environment,
  checkout?: string
): Promise<string> => {
  const settings = { LARDER_HOME: home, ...environment }
  const { code, stderr, stdout } = await run("larder-serve", [...args, "--json"], settings, checkout)
  if (code !== 0) throw new Error(`larder-serve ${args.join(" ")} exited with ${code}:\n${stderr}`)
  return stdout
}

/** Runs an administrative command, and parses the JSON that it prints. */
export const admin = async <A>(
  home: string,
  args: ReadonlyArray<string>,
  environment: Environment = {},
  checkout?: string
): Promise<A> => JSON.parse(await runAdmin(home, args, environment, checkout)) as A

/** Like `admin`, for a command that prints one JSON value per line. */
export const adminLines = async <A>(
  home: string,
  args: ReadonlyArray<string>,
  environment: Environment = {}
): Promise<ReadonlyArray<A>> => {
  const lines = (await runAdmin(home, args, environment)).split("\n").filter((line) => line !== "")
  return lines.map((line) => JSON.parse(line) as A)
}

export interface CreatedKey {
  readonly id: string
  readonly key: string
  readonly account_id: string
}

export interface KeyOptions {
  readonly scopes?: string
  readonly budget?: string
  /** Credited in addition to the first 5,000 credits. */
  readonly usd?: string
  readonly environment?: Environment
  readonly checkout?: string
}

/** Creates an account, with its first 5,000 credits, and a key. */
export const newKey = async (
  home: string,
  { budget = "100", checkout, environment = {}, scopes = "all", usd }: KeyOptions = {}
): Promise<CreatedKey> => {
  const call = <A>(args: ReadonlyArray<string>) => admin<A>(home, args, environment, checkout)
  const account = await call<{ readonly id: string }>(["accounts", "create", "--name", "Test"])
  if (usd !== undefined) {
    await call(["accounts", "credit", "--account", account.id, "--note", "test", "--usd", usd])
  }
  const settings = ["--name", "test", "--scopes", scopes, "--budget-usd", budget]
  return call(["keys", "create", "--account", account.id, ...settings])
}

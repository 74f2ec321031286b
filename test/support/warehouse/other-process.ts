/** Another process that uses the same files, like a second run, an analyst or a program that hangs. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { DuckDb, layoutOf, literal } from "@larder/warehouse"
import { Effect, Exit, type FileSystem, Layer, Logger, type Path, type Scope } from "effect"
import { exampleIn, type Found, publishRows } from "./example-data-set.ts"

export type Command =
  /** Opens a file read-write, prints `held`, and keeps it open. */
  | { readonly do: "hold"; readonly file: string }
  /** Opens a file as an analyst does, prints `open`, and prints the rows of each query that it reads, as a line of JSON. */
  | { readonly do: "read"; readonly file: string }
  /** Publishes these rows, and prints the generation. */
  | {
      readonly do: "publish"
      readonly home: string
      readonly found: Found
      /** Another schema with the tables of the example data set. */
      readonly schema?: string
      readonly run_id?: string
    }
  /** Prints whether a file can be opened read-write: `free` or `in use`. */
  | { readonly do: "try"; readonly file: string }
  /** Runs each command that it reads. */
  | { readonly do: "run commands" }

const print = (line: string) => Effect.sync(() => process.stdout.write(`${line}\n`))

/** `lines` ends when the test ends. */
const program = Effect.fnUntraced(function* (
  command: Command,
  lines: AsyncIterator<string>
): Effect.fn.Return<void, unknown, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const nextLine = Effect.promise(() => lines.next())
  switch (command.do) {
    case "hold": {
      yield* DuckDb.readWrite(command.file)
      yield* print("held")
      yield* nextLine
      break
    }
    case "read": {
      const db = yield* DuckDb.memory
      yield* db.run(`attach ${literal(command.file)} as larder (read_only); use larder`)
      yield* print("open")
      for (let line = yield* nextLine; !line.done; line = yield* nextLine) {
        yield* print(JSON.stringify(yield* db.rows(line.value)))
      }
      break
    }
    case "publish": {
      const { found, home, run_id, schema } = command
      const { run } = yield* publishRows(yield* layoutOf(home), found, {
        ...(schema === undefined ? {} : { target: exampleIn(schema) }),
        ...(run_id === undefined ? {} : { run: { run_id } })
      })
      yield* print(String(run.generation))
      break
    }
    case "try": {
      const free = Effect.as(Effect.scoped(DuckDb.readWrite(command.file)), "free")
      yield* print(yield* Effect.catchTag(free, "FileInUse", () => Effect.succeed("in use")))
      break
    }
    case "run commands": {
      for (let line = yield* nextLine; !line.done; line = yield* nextLine) {
        yield* Effect.scoped(program(JSON.parse(line.value), lines))
      }
    }
  }
})

const main = async () => {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
  const { value } = await lines.next()
  const exit = await Effect.runPromiseExit(
    program(JSON.parse(value ?? ""), lines).pipe(
      Effect.scoped,
      Effect.provide([NodeServices.layer, Layer.succeed(Logger.LogToStderr, true)])
    )
  )
  if (Exit.isFailure(exit)) console.error(String(exit.cause))
  process.exit(Exit.isSuccess(exit) ? 0 : 1)
}

interface OtherProcess {
  readonly child: ChildProcess
  /** The next line of its output. */
  readonly nextLine: Effect.Effect<string>
  /** The rows of a query, from a process with the command `read`. */
  readonly query: (sql: string) => Effect.Effect<unknown>
  /** The output of a command, from a process with the command `run commands`. */
  readonly send: (command: Command) => Effect.Effect<string>
  /** Sends the signal, and waits until the process has ended. */
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Waits until the process has ended. */
  readonly ended: Effect.Effect<{ readonly code: number | null; readonly stderr: string }>
}

/** Starts another process, which ends with the scope at the latest. `shell` runs first, such as `ulimit -f 100`. */
export const otherProcess = (command: Command, shell = ":") =>
  Effect.acquireRelease(
    Effect.sync((): OtherProcess => {
      const args = ["-c", `${shell}; exec "$@"`, "sh", process.execPath, fileURLToPath(import.meta.url)]
      const child = spawn("sh", args, { stdio: ["pipe", "pipe", "pipe"] })
      const closed = once(child, "close")
      let stderr = ""
      child.stderr.setEncoding("utf8").on("data", (text) => {
        stderr += text
      })
      child.stdin.on("error", () => {}) // the process may have ended before it read
      const writeLine = (line: string) => Effect.sync(() => child.stdin.write(`${line}\n`))
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const nextLine = Effect.promise(async () => {
        const { done, value } = await lines.next()
        if (done) throw new Error(`the other process ended:\n${stderr}`)
        return value
      })
      child.stdin.write(`${JSON.stringify(command)}\n`)
      return {
        child,
        nextLine,
        query: (sql) =>
          Effect.andThen(
            writeLine(sql),
            Effect.map(nextLine, (line) => JSON.parse(line))
          ),
        send: (next) => Effect.andThen(writeLine(JSON.stringify(next)), nextLine),
        kill: (signal) =>
          Effect.promise(async () => {
            child.kill(signal)
            await closed
          }),
        ended: Effect.promise(async () => {
          await closed
          return { code: child.exitCode, stderr }
        })
      }
    }),
    ({ child, kill }) => (child.exitCode === null && child.signalCode === null ? kill("SIGKILL") : Effect.void)
  )

if (import.meta.main) void main()

/** Another process at the same files: what a second run, an analyst or a stuck program does to them. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { DuckDb, layoutOf, literal } from "@larder/warehouse"
import { Effect, Exit, type FileSystem, Layer, Logger, type Path, type Scope } from "effect"
import { exampleIn, type Found, publishFound } from "./example-data-set.ts"

export type Command =
  /** Opens a file read-write, says so, and stays. */
  | { readonly do: "hold"; readonly file: string }
  /** Opens a file as an analyst does, says so, and answers every query that it reads with a line of JSON. */
  | { readonly do: "read"; readonly file: string }
  /** Publishes what was found, and prints the generation. */
  | {
      readonly do: "publish"
      readonly home: string
      readonly found: Found
      /** Another data set with the tables of the example. */
      readonly schema?: string
      readonly run_id?: string
    }
  /** Says whether a file is free to be opened read-write. */
  | { readonly do: "try"; readonly file: string }
  /** Runs each command that it reads. */
  | { readonly do: "obey" }

const say = (line: string) => Effect.sync(() => process.stdout.write(`${line}\n`))

/** `lines` ends when the test is gone. */
const program = Effect.fnUntraced(function* (
  command: Command,
  lines: AsyncIterator<string>
): Effect.fn.Return<void, unknown, FileSystem.FileSystem | Path.Path | Scope.Scope> {
  const nextLine = Effect.promise(() => lines.next())
  switch (command.do) {
    case "hold": {
      yield* DuckDb.readWrite(command.file)
      yield* say("held")
      yield* nextLine
      break
    }
    case "read": {
      const db = yield* DuckDb.memory
      yield* db.run(`attach ${literal(command.file)} as larder (read_only); use larder`)
      yield* say("open")
      for (let line = yield* nextLine; !line.done; line = yield* nextLine) {
        yield* say(JSON.stringify(yield* db.rows(line.value)))
      }
      break
    }
    case "publish": {
      const { found, home, run_id, schema } = command
      const { run } = yield* publishFound(yield* layoutOf(home), found, {
        ...(schema === undefined ? {} : { of: exampleIn(schema) }),
        ...(run_id === undefined ? {} : { run: { run_id } })
      })
      yield* say(String(run.generation))
      break
    }
    case "try": {
      const free = Effect.as(Effect.scoped(DuckDb.readWrite(command.file)), "free")
      yield* say(yield* Effect.catchTag(free, "FileInUse", () => Effect.succeed("in use")))
      break
    }
    case "obey": {
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
  /** The next line that it prints. */
  readonly nextLine: Effect.Effect<string>
  /** Asks a reader. */
  readonly ask: (sql: string) => Effect.Effect<unknown>
  /** Has a process that obeys run a command. Answers with the line that it prints. */
  readonly order: (command: Command) => Effect.Effect<string>
  /** Ends it, and waits until it is gone. */
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Its exit code, and what it wrote on stderr. */
  readonly ended: Effect.Effect<{ readonly code: number | null; readonly stderr: string }>
}

/** Starts another process, which ends with the scope at the latest. `shell` may prepare it, such as by `ulimit -f 100`. */
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
      child.stdin.on("error", () => {}) // it may have ended before it read
      const tell = (line: string) => Effect.sync(() => child.stdin.write(`${line}\n`))
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
        ask: (sql) =>
          Effect.andThen(
            tell(sql),
            Effect.map(nextLine, (line) => JSON.parse(line))
          ),
        order: (next) => Effect.andThen(tell(JSON.stringify(next)), nextLine),
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

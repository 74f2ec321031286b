/** Another process at the same files: what a second run, an analyst or a stuck program does to them. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { NodeServices } from "@effect/platform-node"
import { Effect, Exit, type FileSystem, type Path, type Scope } from "effect"
import { DuckDb } from "./duckdb.ts"
import { layoutOf } from "./generation/layout.ts"
import { type Found, publishFound } from "./pantry-for-tests.ts"

export type Command =
  /** Opens a file read-write, prints a line, and stays. */
  | { readonly do: "hold"; readonly file: string }
  /** Opens a file read-only, prints a line, and answers every query that it reads with a line of JSON. */
  | { readonly do: "read"; readonly file: string }
  /** Publishes, and prints the generation. */
  | { readonly do: "publish"; readonly home: string; readonly found: Found }

const program = (command: Command): Effect.Effect<void, unknown, FileSystem.FileSystem | Path.Path | Scope.Scope> => {
  switch (command.do) {
    case "hold":
      return Effect.gen(function* () {
        yield* DuckDb.readWrite(command.file)
        console.log("held")
        yield* Effect.promise(() => once(process.stdin.resume(), "end")) // which also comes when the test is gone
      })
    case "read":
      return Effect.gen(function* () {
        const db = yield* DuckDb.readOnly(command.file)
        console.log("open")
        const queries = createInterface({ input: process.stdin })
        for (;;) {
          const [sql] = yield* Effect.promise(() => once(queries, "line"))
          console.log(JSON.stringify(yield* db.rows(String(sql))))
        }
      })
    case "publish":
      return Effect.gen(function* () {
        const { run } = yield* publishFound(yield* layoutOf(command.home), command.found)
        console.log(run.generation)
      })
  }
}

const main = (command: Command) =>
  Effect.runPromiseExit(program(command).pipe(Effect.scoped, Effect.provide(NodeServices.layer))).then((exit) => {
    if (Exit.isFailure(exit)) console.error(String(exit.cause))
    process.exit(Exit.isSuccess(exit) ? 0 : 1)
  })

export interface OtherProcess {
  readonly child: ChildProcess
  /** The next line that it prints. */
  readonly nextLine: Effect.Effect<string>
  /** Asks a reader. */
  readonly ask: (sql: string) => Effect.Effect<unknown>
  /** Ends it, and waits until it is gone. */
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Its exit code, and what it wrote on stderr. */
  readonly ended: Effect.Effect<{ readonly code: number | null; readonly stderr: string }>
}

/** Starts another process, which ends with the scope at the latest. `shell` may prepare it, such as by `ulimit -f 100`. */
export const otherProcess = (command: Command, shell = "") =>
  Effect.acquireRelease(
    Effect.sync((): OtherProcess => {
      const script = `trap '' XFSZ; ${shell || ":"}; exec "$@"`
      const args = ["-c", script, "sh", process.execPath, fileURLToPath(import.meta.url), JSON.stringify(command)]
      const child = spawn("sh", args, { stdio: ["pipe", "pipe", "pipe"] })
      const closed = once(child, "close")
      let stderr = ""
      child.stderr.setEncoding("utf8").on("data", (text) => {
        stderr += text
      })
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const nextLine = Effect.promise(async () => {
        const { done, value } = await lines.next()
        if (done) throw new Error(`the other process ended:\n${stderr}`)
        return value
      })
      return {
        child,
        nextLine,
        ask: (sql) =>
          Effect.andThen(
            Effect.sync(() => child.stdin.write(`${sql}\n`)),
            Effect.map(nextLine, (line) => JSON.parse(line))
          ),
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

if (import.meta.main) void main(JSON.parse(process.argv[2] ?? ""))

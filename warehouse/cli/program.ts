/**
 * Runs the main program of both binaries. Results go to stdout, everything else to stderr. Exit codes: 0 success, 1
 * failure, 2 usage error or invalid setting, 130 interrupted (0 for a server, which runs `untilStopped`); an error with
 * `Runtime.errorExitCode` sets its own.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Config, Effect, Exit, Layer, Predicate, Runtime } from "effect"
import { Command } from "effect/cli"
import { sharedDepotFromSettings } from "../depot/shared.ts"
import { settingsFrom } from "./environment.ts"
import { logs, printProblem } from "./logs.ts"
import { withStopSignal } from "./stop-signal.ts"
import { visibleConsole } from "./terminal.ts"
import { usageToStderr } from "./usage.ts"

const interrupted = 130

const isUsageError = (error: unknown) => Predicate.isTagged(error, "ShowHelp")

/** Effect exits with 1 on a usage error, or with 0 if a subcommand is missing; Larder with 2, as on invalid settings. */
export const exitCodeOf = (exit: Exit.Exit<unknown, unknown>): number => {
  let code = 0
  Runtime.defaultTeardown(exit, (exitCode) => {
    code = exitCode
  })
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return code
  const error = Cause.squash(exit.cause)
  return isUsageError(error) || error instanceof Config.ConfigError ? 2 : code
}

/** A server runs until it is asked to stop: that is its normal end. */
export const untilStopped = <A, E, R>(server: Effect.Effect<A, E, R>) =>
  Effect.onInterrupt(server, () =>
    Effect.sync(() => {
      process.exitCode = 0
    })
  )

const teardown: Runtime.Teardown = (exit, onExit) => {
  const code = exitCodeOf(exit)
  onExit(code === interrupted ? Number(process.exitCode ?? code) : code)
}

const messageOf = (error: unknown) => {
  if (error instanceof Config.ConfigError) {
    return `A setting cannot be used: ${error.cause.message.replace(/\n\s*at \["(.+)"\]/, " (in $1)")}`
  }
  return error instanceof Error && error.message !== "" ? error.message : String(error)
}

/** The messages of expected errors. */
export const expectedMessages = (cause: Cause.Cause<unknown>): ReadonlyArray<string> =>
  cause.reasons.filter(Cause.isFailReason).map((reason) => messageOf(reason.error))

/** Prints the messages of expected errors, without a stack. A defect is a bug in Larder and is logged completely. */
export const report = (program: string) => (cause: Cause.Cause<unknown>) => {
  if (Cause.hasInterruptsOnly(cause) || isUsageError(Cause.squash(cause))) return Effect.void
  const messages = expectedMessages(cause)
  return Effect.andThen(
    Effect.forEach(messages, (message) => printProblem(`${program}: ${message}`), { discard: true }),
    Cause.hasDies(cause) ? Effect.logError("a defect in this program", cause) : Effect.void
  )
}

/**
 * Ends the program if stdout cannot be written: normally if a reader such as `head` closed the pipe
 * (`larder-serve ledger export … | head`), otherwise with one error, as on a full disk.
 */
const stopWhenOutputFails = Effect.fnUntraced(function* (program: string) {
  const runSync = Effect.runSyncWith(yield* Effect.context<never>())
  let hasFailed = false
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EIO" || hasFailed) return // EIO: the terminal was closed, and SIGHUP stops the program
    hasFailed = true
    const isClosed = error.code === "EPIPE"
    process.exitCode = isClosed ? 0 : 1
    if (!isClosed) runSync(printProblem(`${program}: The output cannot be written: ${error.message}`))
    process.emit("SIGTERM", "SIGTERM")
  })
  process.stderr.on("error", () => undefined) // there is nowhere to report it
})

interface Program {
  /** Runs with the arguments of the process, and exits. */
  readonly main: () => void
  /** Runs with these arguments and returns the exit code. */
  readonly runWith: (args: ReadonlyArray<string>) => Promise<number>
}

export const makeProgram = <const Name extends string, Input, ContextInput, E>(
  command: Command.Command<Name, Input, ContextInput, E, NodeServices.NodeServices>,
  options: { readonly version: string }
): Program => {
  const reportErrors = Effect.tapCause(report(command.name)) // runMain's own report would go to stdout
  const services = Layer.mergeAll(NodeServices.layer, visibleConsole, usageToStderr, logs, sharedDepotFromSettings)
  // biome-ignore lint/style/noProcessEnv: the only place that reads the environment
  const settings = settingsFrom(command.name, () => process.env)
  return {
    main: () =>
      stopWhenOutputFails(command.name).pipe(
        Effect.andThen(Effect.provide(Command.run(command, options), settings)),
        reportErrors,
        Effect.provide(services),
        withStopSignal,
        NodeRuntime.runMain({ teardown, disableErrorReporting: true })
      ),
    runWith: async (args) => {
      const run = Command.runWith(
        command,
        options
      )(args).pipe(Effect.provide(settings), reportErrors, Effect.provide(services))
      const exit = await Effect.runPromiseExit(run)
      return new Promise((resolve) => teardown(exit, resolve))
    }
  }
}

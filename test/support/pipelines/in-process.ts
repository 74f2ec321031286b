/** Runs of a pipeline in the process of the test: a program that is started for each takes half a second more. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { Pipeline } from "@larder/pipelines/run/pipeline.ts"
import { ingestFromOrigin, type OriginLayer } from "@larder/pipelines/run/run.ts"
import { hasOnlyKnown, leftOutError } from "@larder/pipelines/run/summary.ts"
import type { FeedLeftOut } from "@larder/schemas"
import { exitCodeOf, expectedMessages } from "@larder/warehouse/cli"
import { ConfigProvider, Effect, Exit, Logger } from "effect"

export interface EndedInProcess {
  /** The exit code that the program would have. */
  readonly code: number
  readonly left_out: ReadonlyArray<FeedLeftOut>
  /** The log, and the message of the error if there is one. */
  readonly output: string
}

export const runInProcess = (pipeline: Pipeline, home: string, origin: OriginLayer): Promise<EndedInProcess> => {
  const logs: Array<string> = []
  const logger = Logger.map(Logger.formatJson, (line) => void logs.push(line))
  return ingestFromOrigin(pipeline, { home, days: undefined, dryRun: false }).pipe(
    Effect.provide(origin),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({}))),
    Effect.provide([NodeServices.layer, Logger.layer([logger])]),
    Effect.exit,
    Effect.map((exit) => {
      if (Exit.isFailure(exit)) {
        return { code: exitCodeOf(exit), left_out: [], output: [...logs, ...expectedMessages(exit.cause)] }
      }
      const error = leftOutError(exit.value, false)
      const code = error === undefined || hasOnlyKnown(exit.value) ? 0 : exitCodeOf(Exit.fail(error))
      return { code, left_out: exit.value.left_out, output: [...logs, error?.message ?? ""] }
    }),
    Effect.map(({ output, ...ended }) => ({ ...ended, output: output.join("\n") })),
    Effect.runPromise
  )
}

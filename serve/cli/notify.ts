/** `larder-serve notify check` */
import { formatTable } from "@larder/warehouse/cli"
import { Effect, Runtime, Schema } from "effect"
import { Command } from "effect/cli"
import { jsonOutputFlag, print } from "./flags.ts"

class NotDelivered extends Schema.TaggedError<NotDelivered>()("NotDelivered", { problem: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
  override get message() {
    return this.problem
  }
}

/** Loaded by this command only. */
const loadChecks = Effect.promise(() => import("./check-notices.ts"))

const check = Command.make(
  "check",
  { json: jsonOutputFlag },
  Effect.fn(function* ({ json }) {
    const { postCheck } = yield* loadChecks
    const deliveries = [yield* postCheck]
    yield* print(json, deliveries, formatTable(deliveries.map(({ channel, state, text }) => [state, channel, text])))
    const failed = deliveries.filter(({ state }) => state === "failed")
    if (failed.length > 0) return yield* new NotDelivered({ problem: "Notices do not arrive" })
  })
).pipe(Command.withDescription("Send a test notice, and report whether it was accepted: exits with 1 if not"))

export const notifyCommand = Command.make("notify").pipe(
  Command.withDescription("Notices for the operator"),
  Command.withSubcommands([check])
)

/** `larder-serve notify check` */
import { formatTable } from "@larder/warehouse/cli"
import { Effect, Runtime, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { jsonOutputFlag, orNull, print } from "./flags.ts"

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
  {
    to: Flag.String("to").pipe(
      Flag.withMetavar("ADDRESS"),
      Flag.withDescription("E-mail address that gets a test mail, if there is a mail server"),
      orNull
    ),
    json: jsonOutputFlag
  },
  Effect.fn(function* ({ json, to }) {
    const { checkChannels } = yield* loadChecks
    const deliveries = yield* checkChannels(to)
    yield* print(json, deliveries, formatTable(deliveries.map(({ channel, state, text }) => [state, channel, text])))
    if (deliveries.some(({ state }) => state === "failed")) {
      return yield* new NotDelivered({ problem: "Not everything was accepted" })
    }
    if (deliveries.every(({ state }) => state === "skipped"))
      return yield* new NotDelivered({ problem: "Nothing was sent" })
  })
).pipe(
  Command.withDescription(
    "Send a test notice to the webhook and a test mail, and report whether they were accepted: exits with 1 if not"
  )
)

export const notifyCommand = Command.make("notify").pipe(
  Command.withDescription("Notices for the operator, and mails for people"),
  Command.withSubcommands([check])
)

/** `larder-serve notify check` */
import { Clock, Effect, Runtime, Schema } from "effect"
import { Command } from "effect/cli"
import { formatTable, jsonOutputFlag, print } from "./flags.ts"

class NotDelivered extends Schema.TaggedError<NotDelivered>()("NotDelivered", { problem: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
  override get message() {
    return this.problem
  }
}

interface Delivery {
  readonly channel: "webhook"
  readonly state: "ok" | "failed"
  readonly text: string
}

/** Loaded by this command only: the warehouse loads DuckDB. */
const loadWarehouse = Effect.promise(() => import("@larder/warehouse"))

const postCheck = Effect.gen(function* () {
  const { makeCheckNotice, postNotice, webhookFromSettings } = yield* loadWarehouse
  const webhook = yield* webhookFromSettings
  if (webhook === undefined) {
    const text = "LARDER_NOTIFY_URL is not set, so nobody is told when data is late, or when a run fails."
    return { channel: "webhook", state: "failed", text } satisfies Delivery
  }
  const notice = makeCheckNotice(new Date(yield* Clock.currentTimeMillis).toISOString())
  const signed = webhook.key === undefined ? "without a signature" : "signed with LARDER_NOTIFY_SECRET"
  const accepted: Delivery = { channel: "webhook", state: "ok", text: `accepted the notice ${notice.id}, ${signed}` }
  return yield* postNotice(webhook, notice).pipe(
    Effect.as(accepted),
    Effect.catchTag("NoticeNotDelivered", ({ message }) =>
      Effect.succeed<Delivery>({ channel: "webhook", state: "failed", text: message })
    )
  )
})

const check = Command.make(
  "check",
  { json: jsonOutputFlag },
  Effect.fn(function* ({ json }) {
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

/** Sends a test notice. Its own file, because the warehouse loads DuckDB, which other commands do not need. */
import { makeCheckNotice, postNotice, webhookFromSettings } from "@larder/warehouse"
import { Clock, Effect } from "effect"

interface Delivery {
  readonly channel: "webhook"
  readonly state: "ok" | "failed"
  readonly text: string
}

export const postCheck = Effect.gen(function* () {
  const webhook = yield* webhookFromSettings
  if (webhook === undefined) {
    const text = "LARDER_NOTIFY_URL is not set, so no notice is sent when data is late, or when a run fails."
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

/** Sends a test message over each channel. Its own file, because the warehouse loads DuckDB, which other commands do not need. */
import { makeCheckNotice, postNotice, webhookFromSettings } from "@larder/warehouse"
import { Clock, Effect } from "effect"
import { mailFromSettings, openSmtpMailer, parseEmail } from "../mail/index.ts"

export interface Delivery {
  readonly channel: "webhook" | "mail"
  /** `skipped`: the channel has no settings, or no recipient. */
  readonly state: "ok" | "failed" | "skipped"
  readonly text: string
}

const postCheck = Effect.fnUntraced(function* (now: string) {
  const webhook = yield* webhookFromSettings
  if (webhook === undefined) {
    const text = "LARDER_NOTIFY_URL is not set, so no notice is sent when data is late, or when a run fails."
    return { channel: "webhook", state: "skipped", text } satisfies Delivery
  }
  const notice = makeCheckNotice(now)
  const signed = webhook.key === undefined ? "without a signature" : "signed with LARDER_NOTIFY_SECRET"
  const accepted: Delivery = { channel: "webhook", state: "ok", text: `accepted the notice ${notice.id}, ${signed}` }
  return yield* postNotice(webhook, notice).pipe(
    Effect.as(accepted),
    Effect.catchTag("NoticeNotDelivered", ({ message }) =>
      Effect.succeed<Delivery>({ channel: "webhook", state: "failed", text: message })
    )
  )
})

const text = `This is a test. Mails of the Larder console reach you.

You get this mail because its operator entered your address to test them.
`

const mailCheck = Effect.fnUntraced(function* (now: string, to: string | null) {
  const settings = yield* mailFromSettings
  const report = (state: Delivery["state"], text: string): Delivery => ({ channel: "mail", state, text })
  if (settings === undefined) {
    const off =
      "LARDER_SMTP_URL is not set, so people get no mails: no links for new passwords, nothing about balances."
    return report(to === null ? "skipped" : "failed", off)
  }
  if (to === null) return report("skipped", "No mail was sent: add --to and an address that you can read.")
  const address = parseEmail(to)
  if (address === undefined) return report("failed", "No mail was sent: --to is not an e-mail address.")
  const mail = { to: address, subject: "Larder: a test", text, id: `check-${now.replace(/\D/g, "")}` }
  return yield* openSmtpMailer(settings)
    .send(mail)
    .pipe(
      Effect.as(report("ok", "the mail server accepted a mail: see whether it arrives")),
      Effect.catchTag("MailNotDelivered", ({ message }) => Effect.succeed(report("failed", message)))
    )
})

export const checkChannels = Effect.fnUntraced(function* (to: string | null) {
  const now = new Date(yield* Clock.currentTimeMillis).toISOString()
  return [yield* postCheck(now), yield* mailCheck(now, to)]
})

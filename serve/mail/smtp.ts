/** Sends mails over SMTP, with a new connection for each: Larder sends few, and an idle one would be closed anyway. */
import { Context, Duration, Effect, Redacted } from "effect"
import { parseEmail } from "./email.ts"
import { type Mail, MailNotDelivered } from "./mail.ts"
import type { MailSettings } from "./settings.ts"

/**
 * For a whole mail, from the connection to the acceptance. Many mail servers answer slowly on purpose, to slow down senders
 * of spam.
 */
export const MailTimeout = Context.Reference("larder/serve/MailTimeout", { defaultValue: () => Duration.seconds(20) })

/** What nodemailer adds to its errors. Their texts are not used: they quote the server, which may repeat an address. */
interface SmtpFailure {
  readonly code?: unknown
  /** The code of the system, such as ECONNREFUSED, if `code` is a general one. */
  readonly originalCode?: unknown
  /** The status that the mail server answered with. */
  readonly responseCode?: unknown
  readonly command?: unknown
}

const nameRefused = (code: unknown, command: unknown) => {
  if (code === "EAUTH") return "the user and password"
  if (command === "MAIL FROM") return "the sender in LARDER_MAIL_FROM"
  return command === "RCPT TO" ? "the recipient" : "the mail"
}

const notDelivered = (did: string, reason: MailNotDelivered["reason"]) =>
  new MailNotDelivered({ problem: `The mail server in LARDER_SMTP_URL ${did}.`, reason })

const toNotDelivered = (error: unknown) => {
  const { code, command, originalCode, responseCode }: SmtpFailure = Object(error)
  if (code === "ETLS") return notDelivered("offers no encryption that can be trusted (ETLS)", "unavailable")
  if (typeof responseCode !== "number") {
    const name = [originalCode, code].find((name) => typeof name === "string") ?? "no code"
    return notDelivered(`could not be reached (${name})`, "unavailable")
  }
  const verdict = responseCode >= 500 ? "refused" : "deferred"
  const isOfPerson = command === "RCPT TO" || code === "EMESSAGE"
  return notDelivered(
    `${verdict} ${nameRefused(code, command)} (${responseCode})`,
    isOfPerson ? verdict : "unavailable"
  )
}

export const sendBySmtp = Effect.fn("sendBySmtp")(function* (settings: MailSettings, mail: Mail) {
  const { from, server } = settings
  // nodemailer would read `a@example.com, b@example.com` as two recipients
  if (parseEmail(mail.to) !== mail.to) {
    return yield* new MailNotDelivered({ problem: "The stored address is not one e-mail address.", reason: "refused" })
  }
  const { host, login, port, tls } = Redacted.value(server)
  const timeout = yield* MailTimeout
  const { createTransport } = yield* Effect.promise(() => import("nodemailer"))
  const transport = createTransport({
    host,
    port,
    secure: tls === "from_start",
    requireTLS: tls === "required",
    ignoreTLS: tls === "none", // the certificate of a server on this machine is often self-signed
    ...(login && { auth: login }),
    // earlier than the time-out of the mail: then it was certainly not accepted
    connectionTimeout: Duration.toMillis(timeout) / 2,
    greetingTimeout: Duration.toMillis(timeout) / 2,
    disableFileAccess: true,
    disableUrlAccess: true
  })
  yield* Effect.tryPromise({
    try: (signal) =>
      transport.sendMail({
        from,
        to: { name: "", address: mail.to },
        envelope: { from: from.address, to: mail.to },
        subject: mail.subject,
        text: mail.text,
        messageId: `<${mail.id}@${from.address.split("@")[1]}>`,
        headers: { "Auto-Submitted": "auto-generated" }, // no automatic answers, such as those of absent people
        signal
      }),
    catch: toNotDelivered
  }).pipe(
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () => Effect.fail(notDelivered(`did not accept a mail within ${Duration.format(timeout)}`, "unanswered"))
    })
  )
})

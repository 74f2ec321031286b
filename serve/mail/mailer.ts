/** Delivers mails: through the operator's mail server, or to the terminal. */
import { Console, type Effect } from "effect"
import type { Mail, MailNotDelivered } from "./mail.ts"
import type { MailSettings } from "./settings.ts"
import { sendBySmtp } from "./smtp.ts"

export interface Mailer {
  /** `printed`: the mails with links are printed by `start`, and no others are made. */
  readonly delivery: "smtp" | "printed"
  /** Succeeds when the mail server has accepted the mail. After a failure it may have accepted it all the same. */
  readonly send: (mail: Mail) => Effect.Effect<void, MailNotDelivered>
}

export const openSmtpMailer = (settings: MailSettings): Mailer => ({
  delivery: "smtp",
  send: (mail) => sendBySmtp(settings, mail)
})

const printMail =
  (asJson: boolean) =>
  ({ subject, text, to }: Mail) =>
    Console.log(
      asJson ? JSON.stringify({ mail: { to, subject, text } }) : `\nTo: ${to}\nSubject: ${subject}\n\n${text}`
    )

/**
 * Prints mails if there is no mail server and only this machine reaches the server; undefined if others may reach it,
 * because their links would stay in the log of a service.
 */
export const openMailer = (
  settings: MailSettings | undefined,
  { asJson, isLocal }: { readonly asJson: boolean; readonly isLocal: boolean }
): Mailer | undefined => {
  if (settings !== undefined) return openSmtpMailer(settings)
  return isLocal ? { delivery: "printed", send: printMail(asJson) } : undefined
}

/** Mails to people: through the operator's mail server, or printed while only this machine reaches the server. */
export { parseEmail } from "./email.ts"
export { type Mail, MailNotDelivered, mayHaveArrived } from "./mail.ts"
export { type Mailer, openMailer, openSmtpMailer } from "./mailer.ts"
export { mailFromSettings } from "./settings.ts"

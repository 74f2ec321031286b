/** A mail server on this machine, which requires a user and a password, and keeps what it accepts. */
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { SMTPServer } from "smtp-server"
import { onTestFinished } from "vitest"

/** No output of a program may contain it. */
export const mailPassword = "p@ss:Wörd/5ecret"
const login = `larder:${encodeURIComponent(mailPassword)}`

export interface ReceivedMail {
  /** The recipients of the envelope. */
  readonly to: ReadonlyArray<string>
  readonly from: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  readonly id: string
}

/** A status: of the sender, the recipient or the message. `hang`: the message arrives, and is never answered. */
export type MailAnswer =
  | "accept"
  | "hang"
  | { readonly sender: number }
  | { readonly rcpt: number }
  | { readonly data: number }

const decodeQuotedPrintable = (body: string) => {
  const bytes = body
    .replace(/=\r\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, "latin1").toString("utf8")
}

const parseMessage = (raw: string) => {
  const end = raw.indexOf("\r\n\r\n")
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, " ")
    .split("\r\n")
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)])
  )
  const isEncoded = headers["content-transfer-encoding"] === "quoted-printable"
  const body = raw.slice(end + 4)
  return { headers, text: (isEncoded ? decodeQuotedPrintable(body) : body).replaceAll("\r\n", "\n") }
}

const failWith = (responseCode: number) => Object.assign(new Error(`${responseCode} ${mailPassword}`), { responseCode })

/** Each mail gets the next of these answers, and the last one from then on. */
export const startMailServer = async (...answers: ReadonlyArray<MailAnswer>) => {
  const received: Array<ReceivedMail> = []
  let mails = 0
  const next = () => answers[mails] ?? answers.at(-1) ?? "accept"
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: ({ password, username }, _, done) =>
      username === "larder" && password === mailPassword ? done(null, { user: username }) : done(failWith(535)),
    onMailFrom: (_, __, done) => {
      const answer = next()
      if (typeof answer === "string" || !("sender" in answer)) return done()
      mails++
      done(failWith(answer.sender))
    },
    onRcptTo: (_, __, done) => {
      const answer = next()
      if (typeof answer === "string" || !("rcpt" in answer)) return done()
      mails++
      done(failWith(answer.rcpt))
    },
    onData: async (stream, { envelope }, done) => {
      const answer = next()
      mails++
      const message = parseMessage(await text(stream))
      const from = envelope.mailFrom === false ? "" : envelope.mailFrom.address
      const to = envelope.rcptTo.map(({ address }) => address)
      received.push({ to, from, ...message, id: message.headers["message-id"] ?? "" })
      if (answer === "accept") done()
      else if (typeof answer === "object" && "data" in answer) done(failWith(answer.data))
      server.server.emit("received")
    }
  })
  server.on("error", () => {}) // a killed client resets its connection
  server.listen(0, "127.0.0.1")
  await once(server.server, "listening")
  const stop = () => new Promise<void>((resolve) => server.close(resolve))
  onTestFinished(stop)
  const { port } = server.server.address() as AddressInfo
  const url = `smtp://${login}@127.0.0.1:${port}`
  return {
    port,
    received,
    /** How many mails were offered, whether or not they were accepted. */
    count: () => mails,
    settings: {
      LARDER_SMTP_URL: url,
      LARDER_MAIL_FROM: "Larder <larder@example.com>",
      LARDER_CONSOLE_URL: "https://console.example.com"
    },
    stop,
    /** Waits until this many messages have arrived. */
    waitFor: async (count: number) => {
      while (received.length < count) await once(server.server, "received")
    }
  }
}
export type MailServer = Awaited<ReturnType<typeof startMailServer>>

/** The link in a mail. */
export const readLink = ({ text }: ReceivedMail): string => /https?:\/\/\S+/.exec(text)?.[0] ?? ""

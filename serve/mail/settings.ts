/**
 * The operator's mail server. Its address is a secret, because it contains the password: no error quotes it. Mails link
 * to the console, so its public address must be known: that of a request can be forged.
 */
import { failSetting, isLoopback } from "@larder/schemas"
import { Config, Effect, Option, Redacted } from "effect"
import { publicConsoleUrlSetting } from "../settings.ts"
import { parseEmail } from "./email.ts"

export interface SmtpServer {
  readonly host: string
  readonly port: number
  /** `from_start`: smtps, anywhere. `required`: STARTTLS, without which nothing is sent. `none`: smtp on this machine. */
  readonly tls: "from_start" | "required" | "none"
  readonly login: { readonly user: string; readonly pass: string } | undefined
}

export interface MailSettings {
  readonly server: Redacted.Redacted<SmtpServer>
  readonly from: { readonly name: string; readonly address: string }
}

/** Empty means unset. */
const settings = Config.all({
  url: Config.option(Config.Redacted("LARDER_SMTP_URL")).pipe(
    Config.map((value) => Option.getOrUndefined(Option.filter(value, (text) => Redacted.value(text) !== "")))
  ),
  from: Config.option(Config.String("LARDER_MAIL_FROM")).pipe(
    Config.map((value) => Option.getOrUndefined(Option.filter(value, (text) => text !== "")))
  ),
  consoleUrl: publicConsoleUrlSetting
})

const decode = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const parseServer = (text: Redacted.Redacted) => {
  const url = URL.parse(Redacted.value(text))
  const [user, pass] = [decode(url?.username ?? ""), decode(url?.password ?? "")]
  if (url === null || url.hostname === "" || !/^smtps?:$/.test(url.protocol)) {
    return failSetting("LARDER_SMTP_URL must be smtps://user:password@host, or smtp://… for STARTTLS")
  }
  if (!/^\/?$/.test(url.pathname) || url.search !== "" || url.hash !== "") {
    return failSetting(
      "LARDER_SMTP_URL must end after the host and its port: write / ? # in the password as %2F %3F %23, and @ as %40"
    )
  }
  if (user === undefined || pass === undefined || (user === "") !== (pass === "")) {
    return failSetting("LARDER_SMTP_URL must have a user and a password, or neither: write % in one of them as %25")
  }
  const isFromStart = url.protocol === "smtps:"
  const withStartTls = isLoopback(url) ? "none" : "required"
  return Effect.succeed(
    Redacted.make<SmtpServer>({
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: Number(url.port || (isFromStart ? 465 : 587)),
      tls: isFromStart ? "from_start" : withStartTls,
      login: user === "" ? undefined : { user, pass }
    })
  )
}

/** `Larder <larder@example.com>`, or only the address. */
const parseFrom = (text: string) => {
  const [, name = "", inBrackets] = /^([^<>\p{Cc}]*)<([^<>]*)>$/u.exec(text.trim()) ?? []
  const address = parseEmail(inBrackets ?? text)
  return address === undefined
    ? failSetting(
        "LARDER_MAIL_FROM must be an e-mail address, such as larder@example.com or Larder <larder@example.com>"
      )
    : Effect.succeed({ name: name.trim().replace(/^"(.*)"$/, "$1"), address })
}

/** Undefined without a mail server. */
export const mailFromSettings = Effect.gen(function* () {
  const { consoleUrl, from, url } = yield* settings
  if (url === undefined && from === undefined) return undefined
  if (url === undefined || from === undefined) {
    const [given, missing] = from === undefined ? ["SMTP_URL", "MAIL_FROM"] : ["MAIL_FROM", "SMTP_URL"]
    return yield* failSetting(`LARDER_${given} is set but LARDER_${missing} is not: set both, or neither`)
  }
  if (Option.isNone(consoleUrl)) {
    return yield* failSetting(
      "LARDER_SMTP_URL needs LARDER_CONSOLE_URL, the public address of the console: mails contain links to it"
    )
  }
  return { server: yield* parseServer(url), from: yield* parseFrom(from) } satisfies MailSettings
})

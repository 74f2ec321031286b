import { assert, describe, it } from "@effect/vitest"
import { type MailAnswer, type MailServer, mailPassword, startMailServer } from "@larder/test/support/mail-server.ts"
import { ConfigProvider, Duration, Effect, Redacted } from "effect"
import type { Mail } from "./mail.ts"
import { mailFromSettings } from "./settings.ts"
import { MailTimeout, sendBySmtp } from "./smtp.ts"

const aMail: Mail = { to: "ada@example.com", id: "account-1", subject: "Low balance", text: "Käse\n.\nEnd\n" }

const send = (server: MailServer, mail: Mail = aMail) =>
  Effect.gen(function* () {
    const settings = yield* mailFromSettings
    if (settings === undefined) throw new Error("there is no mail server")
    yield* sendBySmtp(settings, mail)
  }).pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(server.settings))))
const start = (...answers: ReadonlyArray<MailAnswer>) => Effect.promise(() => startMailServer(...answers))

describe("a mail", () => {
  it.live("arrives at one address, as plain text, and says that no person wrote it", () =>
    Effect.gen(function* () {
      const server = yield* start()
      yield* send(server)
      const [mail] = server.received
      assert.deepStrictEqual([mail?.to, mail?.from], [["ada@example.com"], "larder@example.com"])
      assert.deepStrictEqual(
        ["from", "to", "subject", "message-id", "auto-submitted", "content-type"].map((name) => mail?.headers[name]),
        [
          ...["Larder <larder@example.com>", "ada@example.com", "Low balance", "<account-1@example.com>"],
          ...["auto-generated", "text/plain; charset=utf-8"]
        ]
      )
      assert.strictEqual(mail?.text, "Käse\n.\nEnd\n")
    })
  )

  it.live.each([
    { to: "ada@example.com\r\nBcc: eve@example.com" },
    { to: "ada@example.com, eve@example.com" },
    { to: "eve@example.com <ada@example.com>" },
    { subject: "Low\r\nBcc: eve@example.com\r\n\r\nbalance" },
    { id: "1@x>\r\nBcc: <eve@example.com" }
  ])("has no further recipient or header, whatever its parts are: %j", (hostile) =>
    Effect.gen(function* () {
      const server = yield* start()
      yield* Effect.ignore(send(server, { ...aMail, ...hostile }))
      for (const { headers, to } of server.received) {
        assert.isFalse(
          to.some((address) => address.startsWith("eve")),
          String(to)
        )
        assert.isUndefined(headers.bcc)
      }
    })
  )

  it.live.each([
    [{ sender: 553 }, "refused the sender in LARDER_MAIL_FROM (553)", "unavailable"],
    [{ rcpt: 550 }, "refused the recipient (550)", "refused"],
    [{ rcpt: 450 }, "deferred the recipient (450)", "deferred"],
    [{ data: 554 }, "refused the mail (554)", "refused"],
    [{ data: 451 }, "deferred the mail (451)", "deferred"]
  ] as const)("that gets %j is not delivered, and the error does not quote the server", ([answer, problem, reason]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(send(yield* start(answer)))
      assert.deepStrictEqual(
        [error._tag === "MailNotDelivered" && error.reason, error.message],
        [reason, `The mail server in LARDER_SMTP_URL ${problem}.`]
      )
    })
  )

  it.live("is not delivered if the mail server refuses the password, is gone, or does not answer in time", () =>
    Effect.gen(function* () {
      const server = yield* start("hang")
      const wrong = {
        ...server,
        settings: { ...server.settings, LARDER_SMTP_URL: `smtp://a:b@127.0.0.1:${server.port}` }
      }
      const late = send(server).pipe(Effect.provideService(MailTimeout, Duration.millis(300)))
      const problems = [yield* Effect.flip(send(wrong)), yield* Effect.flip(late)]
      assert.deepStrictEqual(
        problems.map((error) => error._tag === "MailNotDelivered" && error.reason),
        ["unavailable", "unanswered"] // it may have accepted the last one
      )
      yield* Effect.promise(() => server.stop())
      assert.deepStrictEqual(
        [...problems, yield* Effect.flip(send(server))].map(({ message }) => message),
        [
          "The mail server in LARDER_SMTP_URL refused the user and password (535).",
          "The mail server in LARDER_SMTP_URL did not accept a mail within 300ms.",
          "The mail server in LARDER_SMTP_URL could not be reached (ECONNREFUSED)."
        ]
      )
    })
  )

  it.live("is not sent, and no password either, to another machine without encryption", () =>
    Effect.gen(function* () {
      const { port, received } = yield* start()
      const login = { user: "larder", pass: mailPassword }
      const server = Redacted.make({ host: "127.0.0.1", port, tls: "required", login } as const)
      const error = yield* Effect.flip(sendBySmtp({ server, from: { name: "", address: "a@b.example" } }, aMail))
      assert.strictEqual(
        error.message,
        "The mail server in LARDER_SMTP_URL offers no encryption that can be trusted (ETLS)."
      )
      assert.deepStrictEqual(received, [])
    })
  )
})

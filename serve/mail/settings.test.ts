import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted } from "effect"
import { mailFromSettings } from "./settings.ts"

const secret = "5ecret"
const complete = {
  LARDER_SMTP_URL: `smtps://larder:${secret}@mail.example`,
  LARDER_MAIL_FROM: "larder@example.com",
  LARDER_CONSOLE_URL: "https://console.example"
}
const read = (settings: Readonly<Record<string, string>>) =>
  mailFromSettings.pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(settings))))
const readServer = (LARDER_SMTP_URL: string) =>
  Effect.map(read({ ...complete, LARDER_SMTP_URL }), (mail) => mail && Redacted.value(mail.server))

describe("the settings of mails", () => {
  it.effect("are optional, and empty ones count as unset", () =>
    Effect.gen(function* () {
      assert.isUndefined(yield* read({}))
      assert.isUndefined(yield* read({ LARDER_SMTP_URL: "", LARDER_MAIL_FROM: "" }))
      assert.notInclude(JSON.stringify(yield* read(complete)), secret)
    })
  )

  it.effect.each([
    ["smtps://larder:5ecret@mail.example", 465, "from_start"],
    ["smtp://larder:5ecret@mail.example", 587, "required"],
    ["smtp://larder:5ecret@mail.example:2525", 2525, "required"],
    ["smtp://larder:5ecret@127.0.0.1", 587, "none"],
    ["smtps://larder:5ecret@localhost", 465, "from_start"]
  ] as const)("encrypt the connection unless the mail server is on this machine: %s", ([url, port, tls]) =>
    Effect.gen(function* () {
      const { hostname: host } = new URL(url)
      assert.deepStrictEqual(yield* readServer(url), { host, port, tls, login: { user: "larder", pass: secret } })
    })
  )

  it.effect("accept a password with encoded characters, a server without a password, and IPv6", () =>
    Effect.gen(function* () {
      const server = yield* readServer("smtps://me%40example.com:a%2Fb%3A%25@mail.example")
      assert.deepStrictEqual(server?.login, { user: "me@example.com", pass: "a/b:%" })
      const local = { host: "::1", port: 25, tls: "none", login: undefined } as const
      assert.deepStrictEqual(yield* readServer("smtp://[::1]:25"), local)
    })
  )

  it.effect.each([
    ["larder@example.com", "", "larder@example.com"],
    ["Larder <larder@example.com>", "Larder", "larder@example.com"],
    ['"Käse, Söhne" <a@b.example>', "Käse, Söhne", "a@b.example"]
  ] as const)("accept the sender %s", ([LARDER_MAIL_FROM, name, address]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* read({ ...complete, LARDER_MAIL_FROM }))?.from, { name, address })
    })
  )

  it.effect.each([
    [{ LARDER_SMTP_URL: `https://larder:${secret}@mail.example` }, /must be smtps:\/\/…|must be smtps:\/\/user/],
    [{ LARDER_SMTP_URL: `larder:${secret}@mail.example` }, /must be smtps:/],
    [{ LARDER_SMTP_URL: `smtps://larder:a/${secret}@mail.example` }, /must (end after the host|be smtps)/],
    [{ LARDER_SMTP_URL: `smtps://larder:${secret}@mail.example/?tls=no` }, /must end after the host/],
    [{ LARDER_SMTP_URL: `smtps://larder:${secret}%@mail.example` }, /write % in one of them as %25/],
    [{ LARDER_SMTP_URL: `smtps://${secret}@mail.example` }, /must have a user and a password, or neither/],
    [{ LARDER_SMTP_URL: "" }, /LARDER_MAIL_FROM is set but LARDER_SMTP_URL is not/],
    [{ LARDER_MAIL_FROM: "" }, /LARDER_SMTP_URL is set but LARDER_MAIL_FROM is not/],
    [{ LARDER_MAIL_FROM: "Larder" }, /LARDER_MAIL_FROM must be an e-mail address/],
    [{ LARDER_MAIL_FROM: "a@example.com, b@example.com" }, /LARDER_MAIL_FROM must be an e-mail address/],
    [{ LARDER_MAIL_FROM: "A\r\nBcc: x <a@example.com>" }, /LARDER_MAIL_FROM must be an e-mail address/],
    [{ LARDER_CONSOLE_URL: "" }, /LARDER_SMTP_URL needs LARDER_CONSOLE_URL/]
  ] as const)("are refused without the secret: %s", ([changed, problem]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read({ ...complete, ...changed }))
      assert.match(String(error), problem)
      assert.notInclude(String(error), secret)
    })
  )
})

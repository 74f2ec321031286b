/** Mails of real servers to a real mail server: invitations, new passwords, and what a killed server may have sent. */
import { once } from "node:events"
import { request as openRequest } from "node:http"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { removeFolder } from "../end-to-end/ingesting.ts"
import { makeBrowser } from "../support/console/browser.ts"
import { addQuickPasswords } from "../support/console/quick-passwords.ts"
import { mailPassword, readLink, startMailServer } from "../support/mail-server.ts"
import { admin, run, startServer } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"

const email = "ada@example.com"
const [first, second] = ["lantern oyster gravel", "staple correct horse"]
const page = "/forgot-password"

/** With one account. */
let home = ""
let account = ""
beforeAll(async () => {
  home = copyHome(inject("sampleHome"))
  account = (await admin<{ readonly id: string }>(home, ["accounts", "create", "--name", "Bakery"])).id
})
afterAll(() => removeFolder(home))

describe("a server with a mail server", () => {
  it("mails an invitation, and a link for a new password that ends the sessions; links lead to its public address", async () => {
    const mails = await startMailServer("accept", "accept", { rcpt: 450 })
    const { LARDER_CONSOLE_URL: origin } = mails.settings
    const server = await startServer(home, addQuickPasswords(mails.settings))
    const browser = makeBrowser(server.console, origin)
    /** Sends the form as through a proxy that passes on a forged host. */
    const requestLink = async (typed: string) => {
      const headers = { host: "evil.example", origin, "content-type": "application/x-www-form-urlencoded" }
      const sent = openRequest(new URL(page, server.console), { method: "POST", headers })
      sent.end(new URLSearchParams({ email: typed }).toString())
      const [response] = await once(sent, "response")
      return { status: response.statusCode, html: (await text(response)).replaceAll(typed, "…") }
    }
    try {
      const invited = await admin<{ readonly link: string; readonly is_mailed: boolean }>(home, [
        ...["people", "invite", "--account", account, "--email", email]
      ])
      const [invitation] = mails.received
      expect([invited.is_mailed, invitation?.to]).toEqual([true, [email]])
      expect(invitation && readLink(invitation)).toBe(invited.link)
      await browser.post(new URL(invited.link).pathname, { password: first })
      expect((await browser.get("/")).status).toBe(200)

      const known = await requestLink(email)
      const unknown = await requestLink("nobody@example.com")
      expect(known.status).toBe(200)
      expect(known).toEqual(unknown)
      await mails.waitFor(2)
      const link = mails.received[1] === undefined ? "" : readLink(mails.received[1])
      expect(link).toMatch(new RegExp(`^${origin}/invitation/[\\w-]{43}$`))
      expect((await browser.get("/")).status).toBe(200)
      const other = makeBrowser(server.console, origin)
      expect((await other.post(new URL(link).pathname, { password: second })).location).toBe("/")
      expect((await browser.get("/")).location).toBe("/sign-in")
      expect((await browser.post("/sign-in", { email, password: first })).status).toBe(422)
      expect((await browser.post("/sign-in", { email, password: second })).location).toBe("/")
      await requestLink(email)
      const readMetrics = async () => (await fetch(`${server.console}/metrics`)).text()
      await expect.poll(readMetrics).toContain('larder_deliveries_total{kind="mail",outcome="failed"} 1\n')
      expect(await readMetrics()).toContain('larder_deliveries_total{kind="mail",outcome="delivered"} 2\n')
      expect(await server.stop()).toBe(0)
      expect(mails.received.length).toBe(2)
      for (const secret of [mailPassword, encodeURIComponent(mailPassword), link.slice(-43), email]) {
        expect(server.logs()).not.toContain(secret)
      }
    } finally {
      await server.stop()
    }
  })
})

describe("a server that is killed after the mail server has a mail, and before that is recorded", () => {
  it("is followed by one that repeats the mail with the same Message-ID", async () => {
    const mails = await startMailServer("hang", "accept")
    const file = path.join(home, "ledger/ledger.sqlite")
    const change = (sql: string) => {
      const ledger = new DatabaseSync(file)
      ledger.exec(sql)
      ledger.close()
    }
    change(`delete from person; insert into person values ('pers_a', '${account}', '${email}', '', false, '');
      insert into low_balance values ('${account}', 10000, '2026-12-01T00:00:00.000Z')`)
    const killed = await startServer(home, mails.settings)
    await mails.waitFor(1)
    await killed.stop("SIGKILL")
    change("update notifier set expires_at = '2026-01-01T00:00:00.000Z'") // as minutes later
    const next = await startServer(home, mails.settings)
    await mails.waitFor(2)
    expect(await next.stop()).toBe(0)
    const [sent, repeated, ...others] = mails.received
    expect([repeated?.id, repeated?.text, others]).toEqual([sent?.id, sent?.text, []])
    expect(killed.logs() + next.logs()).not.toContain(encodeURIComponent(mailPassword))
  })
})

describe("larder-serve notify check", () => {
  it("sends a mail to the address, and reports what the mail server said without its secret", async () => {
    const mails = await startMailServer("accept", { rcpt: 550 })
    const check = (...args: ReadonlyArray<string>) => run("larder-serve", ["notify", "check", ...args], mails.settings)
    const accepted = await check("--to", "Ada@Example.com")
    expect([accepted.code, mails.received.map(({ headers, to }) => [to, headers.subject])]).toEqual([
      0,
      [[[email], "Larder: a test"]]
    ])
    expect(accepted.stdout).toMatch(
      /^skipped {2}webhook {2}LARDER_NOTIFY_URL is not set.*\nok {7}mail {5}the mail server accepted/
    )
    const refused = await check("--to", email)
    expect(refused.code).toBe(1)
    expect(refused.stdout).toContain(
      "failed   mail     The mail server in LARDER_SMTP_URL refused the recipient (550)."
    )
    expect((await check()).stdout).toContain("No mail was sent: add --to")
    expect((await check("--to", "a@b.example, c@d.example")).stdout).toContain("--to is not an e-mail address")
    const shown = await run("larder-serve", ["config"], mails.settings)
    expect(shown.stdout).toMatch(/LARDER_SMTP_URL +set/)
    expect(accepted.stdout + refused.stderr + shown.stdout).not.toContain(encodeURIComponent(mailPassword))
  })
})

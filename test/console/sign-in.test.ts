import { describe, expect, it } from "vitest"
import { makeFixedClock } from "../contract/conditions.ts"
import { makeBrowser, type Seen } from "../support/console/browser.ts"
import { keyIn, password, servedConsoleAlone } from "../support/console/served-console.ts"

const clock = makeFixedClock(new Date().toISOString())
const site = servedConsoleAlone({ environment: clock.environment })
const session = "larder_session"

const invited = async () => {
  const account = await site.newAccount()
  return site.invite(account.id)
}

/** On a clock that stands still, so that no wait ends before the next attempt. */
const failUntilRefused = async (attempt: (typed: string) => Promise<Seen>) => {
  for (let times = 0; times < 20; times++) {
    const { status } = await attempt(`wrong number ${times}`)
    if (status === 429) return
  }
  throw new Error("20 attempts were all judged")
}

describe("an invitation", () => {
  it("creates a sign-in once, and stays valid when it is only looked at", async () => {
    const link = await invited()
    const browser = site.browser()
    expect((await browser.get(link)).status).toBe(200)
    expect((await browser.get(link)).status).toBe(200)
    const accepted = await browser.post(link, { email: "Once@Example.com", password })
    expect([accepted.status, accepted.location]).toEqual([303, "/"])
    expect((await browser.get("/account")).text).toContain("once@example.com")
    const again = await site.browser().post(link, { email: "second@example.com", password })
    expect([again.status, again.headers.getSetCookie()]).toEqual([410, []])
    expect((await site.browser().get(link)).status).toBe(410)
  })

  it("is made with a command that only the account page of operators names", async () => {
    const pages = [true, false].map(async (is_operator) => {
      const { browser } = await site.signedIn({ is_operator })
      return (await browser.get("/account")).text
    })
    const [operators, members] = await Promise.all(pages)
    expect(operators).toMatch(/npx larder-serve people invite --account acct_\w+<\/code>/)
    expect(members).not.toContain("larder-serve")
    expect(members).toContain("Ask the operator")
  })

  it.each([
    ["an operator", true],
    ["a member", false]
  ])("names its account, the role of %s, and until when it is valid", async (role, is_operator) => {
    const account = await site.newAccount("Corner & Shop")
    const { text } = await site.browser().get(await site.invite(account.id, { is_operator }))
    expect(text).toContain(`You join the account <strong>Corner &amp; Shop</strong> as ${role}.`)
    expect(text).toMatch(/This link works once, until \d+ \w{3} \d{4}, [\d:]+\u00A0UTC\./)
  })

  it("stays valid after a weak password or an invalid address", async () => {
    const link = await invited()
    const browser = site.browser()
    const weak = await browser.post(link, { email: "weak@example.com", password: "short" })
    expect([weak.status, weak.headers.getSetCookie()]).toEqual([422, []])
    expect(weak.text).toContain("at least 12 characters")
    expect(weak.text).toContain('value="weak@example.com"')
    expect(weak.text).not.toContain('value="short"')
    expect((await browser.post(link, { email: "nobody", password })).status).toBe(422)
    expect((await browser.post(link, { email: "weak@example.com", password })).status).toBe(303)
  })

  it("creates a sign-in for its own address only", async () => {
    const account = await site.newAccount()
    const link = await site.invite(account.id, { email: "meant@example.com" })
    const browser = site.browser()
    expect((await browser.get(link)).text).toContain("meant@example.com")
    await browser.post(link, { email: "other@example.com", password })
    const page = await browser.get("/account")
    expect(page.text).toContain("meant@example.com")
    expect(page.text).not.toContain("other@example.com")
  })

  it("sets a new password after a reset, for the person's own address, and signs in", async () => {
    const { account, browser: lost, email } = await site.signedIn()
    const link = await site.reset(account.id)
    expect((await lost.get("/")).location).toContain("/sign-in")
    const browser = site.browser()
    const page = await browser.get(link)
    expect(page.text).toContain("Choose a new password")
    expect(page.text).toContain(`value="${email}"`)
    const next = "another pass phrase, long enough"
    const accepted = await browser.post(link, { email: "other@example.com", password: next })
    expect([accepted.status, accepted.location]).toEqual([303, "/"])
    expect((await browser.get("/account")).text).toContain(email)
    const used = await browser.get(link)
    expect(used.status).toBe(410)
    expect(used.text).toContain("This link was used already, was withdrawn, or has expired.")
    expect((await site.browser().post("/sign-in", { email, password })).status).toBe(422)
    expect((await site.browser().post("/sign-in", { email, password: next })).status).toBe(303)
  })

  it("answers 410 when it never existed", async () => {
    expect((await site.browser().get(`/invitation/${"A".repeat(43)}`)).status).toBe(410)
  })
})

describe("a session", () => {
  it("is an HttpOnly and SameSite cookie that ends within seven days", async () => {
    const accepted = await site.browser().post(await invited(), { email: "cookie@example.com", password })
    const [cookie = "", known = ""] = accepted.headers.getSetCookie()
    expect(cookie).toMatch(/^larder_session=[A-Za-z0-9_-]{43}; Expires=[^;]+ GMT; Path=\/; HttpOnly; SameSite=Lax$/)
    expect(known).toMatch(/^larder_browser=[A-Za-z0-9_-]{43}; Expires=[^;]+ GMT; Path=\/; HttpOnly; SameSite=Lax$/)
    const days = (Date.parse(/Expires=([^;]+)/.exec(cookie)?.[1] ?? "") - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(6.9)
    expect(days).toBeLessThanOrEqual(7)
  })

  it("ends on the server when its person signs out", async () => {
    const { browser } = await site.signedIn()
    const stolen = browser.cookies.get(session) ?? ""
    const out = await browser.post("/sign-out", {})
    expect([out.status, out.location]).toEqual([303, "/sign-in"])
    expect((await browser.get("/sign-in")).text).toContain("You are signed out.")
    expect((await browser.get("/sign-in")).text).not.toContain("You are signed out.")
    const thief = site.browser()
    thief.cookies.set(session, stolen)
    expect((await thief.get("/keys")).location).toBe("/sign-in?next=%2Fkeys")
  })

  it("ends in all other browsers and in a copy when the password changes, and is replaced here", async () => {
    const { browser, email } = await site.signedIn()
    const thief = site.browser()
    thief.cookies.set(session, browser.cookies.get(session) ?? "")
    expect((await thief.get("/account")).status).toBe(200)
    const other = site.browser()
    await other.post("/sign-in", { email, password })
    expect((await other.get("/account")).status).toBe(200)
    const wrong = await browser.post("/account", { current: "not this one at all", next: "another long pass phrase" })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain("This is not your current password")
    expect((await browser.post("/account", { current: password, next: "short" })).status).toBe(422)
    expect((await other.get("/account")).status).toBe(200)
    const changed = await browser.post("/account", { current: password, next: "another long pass phrase" })
    expect([changed.status, changed.location]).toEqual([303, "/account"])
    expect((await browser.get("/account")).text).toContain("Your password is changed.")
    expect((await other.get("/account")).status).toBe(303)
    expect((await thief.get("/account")).status).toBe(303)
    expect((await site.browser().post("/sign-in", { email, password })).status).toBe(422)
    const next = "another long pass phrase"
    expect((await site.browser().post("/sign-in", { email, password: next })).status).toBe(303)
  })

  it("ends everywhere else from the account page, and continues here", async () => {
    const { browser, email } = await site.signedIn()
    const other = site.browser()
    await other.post("/sign-in", { email, password })
    const [, name = "", value = ""] =
      /<button[^>]*name="([^"]+)" value="([^"]+)"[^>]*>Sign out everywhere else/.exec(
        (await browser.get("/account")).text
      ) ?? []
    const sent = await browser.post("/account", { [name]: value })
    expect([sent.status, sent.location]).toEqual([303, "/account"])
    expect((await browser.get("/account")).text).toContain("You were signed out everywhere else.")
    expect((await other.get("/account")).location).toBe("/sign-in?next=%2Faccount")
  })

  it("replaces the session that the browser had", async () => {
    const { browser, email } = await site.signedIn()
    const copy = site.browser()
    copy.cookies.set(session, browser.cookies.get(session) ?? "")
    expect((await browser.post("/sign-in", { email, password })).status).toBe(303)
    expect((await copy.get("/account")).status).toBe(303)
    expect((await browser.get("/account")).status).toBe(200)
  })

  it.each(["", "x", "A".repeat(43), "%00", "../../x"])("is not accepted with a made-up token: %j", async (token) => {
    const browser = site.browser()
    browser.cookies.set(session, token)
    expect((await browser.get("/account")).location).toBe("/sign-in?next=%2Faccount")
  })
})

describe("signing in", () => {
  it("answers a wrong password like an unknown address, and shows no password again", async () => {
    const { email } = await site.signedIn()
    const wrong = await site.browser().post("/sign-in", { email, password: "not the right one" })
    const unknown = await site
      .browser()
      .post("/sign-in", { email: "nobody@example.com", password: "not the right one" })
    expect([wrong.status, unknown.status]).toEqual([422, 422])
    expect(wrong.text.replace(email, "")).toBe(unknown.text.replace("nobody@example.com", ""))
    expect(wrong.text).toContain("E-mail address or password is wrong")
    expect(wrong.text).not.toContain("not the right one")
    expect(wrong.headers.getSetCookie()).toEqual([])
  })

  it("leads back to the requested page", async () => {
    const { email } = await site.signedIn()
    const asked = await site.browser().get("/usage?from=2026-01-01")
    expect(asked.location).toBe("/sign-in?next=%2Fusage%3Ffrom%3D2026-01-01")
    const there = await site.browser().post(asked.location ?? "", { email, password })
    expect(there.location).toBe("/usage?from=2026-01-01")
  })

  it("redirects a person who is signed in already", async () => {
    const { browser } = await site.signedIn()
    expect((await browser.get("/sign-in")).location).toBe("/")
    expect((await browser.get("/sign-in?next=%2Fusage%3Ffrom%3D2026-01-01")).location).toBe("/usage?from=2026-01-01")
    expect((await browser.get("/sign-in?next=%2F%2Fevil.example")).location).toBe("/")
  })

  it("never leads to another site", async () => {
    const { email } = await site.signedIn()
    for (const next of [
      "//evil.example",
      "/\\evil.example",
      "https://evil.example",
      "/%09/evil.example",
      "javascript:1",
      "/.//evil.example"
    ]) {
      const { location } = await site.browser().post(`/sign-in?next=${encodeURIComponent(next)}`, { email, password })
      expect(new URL(location ?? "", "http://console.example").origin).toBe("http://console.example")
    }
  })

  it("answers 429 after failures, except in browsers that have signed in with that address", async () => {
    const { browser, email } = await site.signedIn()
    await failUntilRefused((typed) => site.browser().post("/sign-in", { email, password: typed }))
    const right = await site.browser().post("/sign-in", { email, password })
    expect(right.status).toBe(429)
    const [, seconds = ""] = /Too many attempts\. Try again in (\d+) seconds?\./.exec(right.text) ?? []
    expect(right.headers.get("retry-after")).toBe(seconds)
    await browser.post("/sign-out", {})
    expect((await browser.post("/sign-in", { email, password })).status).toBe(303)
  })

  it("delays only the address that failed, behind a proxy of this machine", async () => {
    const { email } = await site.signedIn()
    const from = (address: string, typed: string) =>
      site
        .browser()
        .post("/sign-in", { email, password: typed }, { origin: site.url(), "x-forwarded-for": `made up, ${address}` })
    await failUntilRefused((typed) => from("192.0.2.7", typed))
    expect((await from("192.0.2.7", password)).status).toBe(429)
    expect((await from("198.51.100.1", password)).status).toBe(303)
  })
})

describe("a visitor who is not signed in", () => {
  it("is sent to the sign-in by every page and every form", async () => {
    const browser = site.browser()
    for (const path of [
      "/",
      "/keys",
      "/keys/new",
      "/keys/key_x",
      "/usage",
      "/requests",
      "/billing",
      "/data",
      "/account"
    ]) {
      const seen = await browser.get(path)
      expect([path, seen.status, seen.location?.split("?")[0]]).toEqual([path, 303, "/sign-in"])
    }
    for (const path of ["/keys/new", "/keys/key_x", "/keys/key_x/revoke", "/account"]) {
      const seen = await browser.post(path, { name: "x", access: "all", budget: "1" })
      expect([path, seen.status, seen.location]).toEqual([path, 303, `/sign-in?next=${encodeURIComponent(path)}`])
    }
    expect((await browser.get("/sign-in")).text).toContain("You are not signed in, so nothing was changed.")
  })

  it("is led back to the page of a form, with its parameters", async () => {
    const browser = makeBrowser(site.url())
    const from = (referer: string) =>
      browser.post("/billing/top-up", { amount: "33.00" }, { origin: site.url(), referer })
    const page = "/billing/top-up?amount=33"
    expect((await from(`${site.url()}${page}`)).location).toBe(`/sign-in?next=${encodeURIComponent(page)}`)
    for (const referer of [`${site.url()}/billing?amount=33`, "nowhere", ""]) {
      expect((await from(referer)).location).toBe("/sign-in?next=%2Fbilling%2Ftop-up")
    }
  })

  it("reaches /healthz, and no endpoint of the API", async () => {
    const browser = makeBrowser(site.url())
    expect(JSON.parse((await browser.get("/healthz")).text)).toMatchObject({ status: "alive" })
    expect((await browser.get("/v1/commodities")).status).toBe(404)
  })
})

it("operators see sign-in attempts, and by ids only who made, changed and revoked a key", async () => {
  const { browser, email } = await site.signedIn()
  const metric = async (outcome: string) => {
    const { text } = await browser.get("/metrics")
    return Number(new RegExp(`^larder_sign_ins_total{outcome="${outcome}"} (\\d+)$`, "m").exec(text)?.[1])
  }
  const before = await Promise.all(["signed_in", "refused", "put_off"].map(metric))
  await site.browser().post("/sign-in", { email, password: "not the right one" })
  await site.browser().post("/sign-in", { email, password })
  const after = await Promise.all(["signed_in", "refused", "put_off"].map(metric))
  expect(after).toEqual([(before[0] ?? 0) + 1, (before[1] ?? 0) + 1, before[2]])
  await site.signedIn() // by a link
  expect(await metric("signed_in")).toBe((after[0] ?? 0) + 1)

  const key = { name: "Dashboard", access: "all", budget: "25" }
  const made = keyIn((await browser.post("/keys/new", key)).text) ?? "none"
  const path = /\/keys\/(key_\w+)"/.exec((await browser.get("/keys")).text)?.[1] ?? ""
  const shown = [
    ...(await browser.get(`/keys/${path}`)).text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
  ].map(([, name = "", value = ""]) => [name, value])
  await browser.post(`/keys/${path}`, { ...Object.fromEntries(shown), ...key, name: "Board" })
  await browser.post(`/keys/${path}/rotate`, { overlap: "1" })
  await browser.post(`/keys/${path}/revoke`, {})
  const lines = site.logs().split("\n")
  const about = (message: string) => lines.filter((line) => line.includes(message) && line.includes(path))
  for (const message of ["key made", "key changed", "key replaced", "key revoked"]) {
    expect(about(message), message).toEqual([expect.stringMatching(/pers_\w{20}/)])
  }
  expect(lines.filter((line) => line.includes("sign-in refused") && line.includes("pers_"))).not.toEqual([])
  expect(site.logs()).not.toContain(email)
  expect(site.logs()).not.toContain(made)
})

it("logs contain no password, session or invitation link", async () => {
  const { browser } = await site.signedIn()
  const logs = site.logs()
  expect(logs).not.toContain(password)
  expect(logs).not.toContain(browser.cookies.get(session))
  expect(logs).not.toContain(browser.cookies.get("larder_browser"))
  expect(logs).not.toContain("/invitation/")
})

import { describe, expect, it } from "vitest"
import { makeFixedClock } from "../contract/conditions.ts"
import { type Browser, makeBrowser, nameSessionCookie, type PageResponse } from "../support/console/browser.ts"
import { findKey } from "../support/console/pages.ts"
import { password, startOwnConsole } from "../support/console/served-console.ts"
import { startSpendingConsole } from "../support/console/spending-console.ts"

const clock = makeFixedClock(new Date().toISOString())
const site = startOwnConsole({ environment: clock.environment })
/** Another console on this host. */
const neighbour = startSpendingConsole()
const readSession = ({ cookies }: Browser) => cookies.get(nameSessionCookie(site.url())) ?? ""

const inviteToNewAccount = async () => {
  const account = await site.createAccount()
  return site.invite(account.id)
}

/** The clock stands still, so that no wait ends before the next attempt. */
const failUntilRefused = async (attempt: (typed: string) => Promise<PageResponse>) => {
  for (let times = 0; times < 20; times++) {
    const { status } = await attempt(`wrong number ${times}`)
    if (status === 429) return
  }
  throw new Error("20 attempts were accepted")
}

describe("an invitation", () => {
  it("creates a login once, and stays valid if it is only opened", async () => {
    const link = await inviteToNewAccount()
    const browser = site.openBrowser()
    for (const method of ["HEAD", "GET", "GET"]) expect((await browser.request(link, { method })).status).toBe(200)
    const accepted = await browser.post(link, { email: "Once@Example.com", password })
    expect([accepted.status, accepted.location]).toEqual([303, "/"])
    expect((await browser.get("/account")).text).toContain("once@example.com")
    const second = await site.openBrowser().post(link, { email: "second@example.com", password })
    expect([second.status, second.headers.getSetCookie()]).toEqual([410, []])
    expect((await site.openBrowser().get(link)).status).toBe(410)
  })

  it("is created with a command that only operators see on the account page", async () => {
    const pages = [true, false].map(async (is_operator) => {
      const { browser } = await site.signIn({ is_operator })
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
  ])("shows its account, the role of %s, and its expiry", async (role, is_operator) => {
    const account = await site.createAccount("Corner & Shop")
    const { text } = await site.openBrowser().get(await site.invite(account.id, { is_operator }))
    expect(text).toContain(`You join the account <strong>Corner &amp; Shop</strong> as ${role}.`)
    expect(text).toMatch(/This link works once, until \d+ \w{3} \d{4}, [\d:]+\u00A0UTC\./)
  })

  it("stays valid after a weak password or an invalid address", async () => {
    const link = await inviteToNewAccount()
    const browser = site.openBrowser()
    const weak = await browser.post(link, { email: "weak@example.com", password: "short" })
    expect([weak.status, weak.headers.getSetCookie()]).toEqual([422, []])
    expect(weak.text).toContain("at least 12 characters")
    expect(weak.text).toContain('value="weak@example.com"')
    expect(weak.text).not.toContain('value="short"')
    expect((await browser.post(link, { email: "nobody", password })).status).toBe(422)
    expect((await browser.post(link, { email: "weak@example.com", password })).status).toBe(303)
  })

  it("creates a login only for its own address", async () => {
    const account = await site.createAccount()
    const link = await site.invite(account.id, { email: "meant@example.com" })
    const browser = site.openBrowser()
    expect((await browser.get(link)).text).toContain("meant@example.com")
    await browser.post(link, { email: "other@example.com", password })
    const page = await browser.get("/account")
    expect(page.text).toContain("meant@example.com")
    expect(page.text).not.toContain("other@example.com")
  })

  it("sets a new password after a reset, for the person's own address, and signs in", async () => {
    const { account, browser: formerBrowser, email } = await site.signIn()
    const link = await site.reset(account.id)
    expect((await formerBrowser.get("/")).location).toContain("/sign-in")
    const browser = site.openBrowser()
    const page = await browser.get(link)
    expect(page.text).toContain("Choose a new password")
    expect(page.text).toContain(`value="${email}"`)
    const next = "another pass phrase, long enough"
    const accepted = await browser.post(link, { email: "other@example.com", password: next })
    expect([accepted.status, accepted.location]).toEqual([303, "/"])
    expect((await browser.get("/account")).text).toContain(email)
    const used = await browser.get(link)
    expect(used.status).toBe(410)
    expect(used.text).toContain("This link has been used, was withdrawn, or has expired.")
    expect((await site.openBrowser().post("/sign-in", { email, password })).status).toBe(422)
    expect((await site.openBrowser().post("/sign-in", { email, password: next })).status).toBe(303)
  })

  it("returns 410 if it never existed", async () => {
    expect((await site.openBrowser().get(`/invitation/${"A".repeat(43)}`)).status).toBe(410)
  })
})

describe("a session", () => {
  it("is an HttpOnly and SameSite cookie that ends within seven days", async () => {
    const accepted = await site
      .openBrowser()
      .post(await inviteToNewAccount(), { email: "cookie@example.com", password })
    const [cookie = "", known = ""] = accepted.headers.getSetCookie()
    expect(cookie).toMatch(
      /^larder_session_127\.0\.0\.1_\d+=[A-Za-z0-9_-]{43}; Expires=[^;]+ GMT; Path=\/; HttpOnly; SameSite=Lax$/
    )
    expect(known).toMatch(
      /^larder_browser_127\.0\.0\.1_\d+=[A-Za-z0-9_-]{43}; Expires=[^;]+ GMT; Path=\/; HttpOnly; SameSite=Lax$/
    )
    const days = (Date.parse(/Expires=([^;]+)/.exec(cookie)?.[1] ?? "") - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(6.9)
    expect(days).toBeLessThanOrEqual(7)
  })

  it("ends on the server when the person signs out", async () => {
    const { browser } = await site.signIn()
    const stolen = readSession(browser)
    const signedOut = await browser.submit("/sign-out", {}, "/")
    expect([signedOut.status, signedOut.location]).toEqual([303, "/sign-in"])
    expect((await browser.get("/sign-in")).text).toContain("You are signed out.")
    expect((await browser.get("/sign-in")).text).not.toContain("You are signed out.")
    const thief = site.openBrowser()
    thief.cookies.set(nameSessionCookie(site.url()), stolen)
    expect((await thief.get("/keys")).location).toBe("/sign-in?next=%2Fkeys")
  })

  it("ends in all other browsers when the password changes, even as a copy, and is replaced in this one", async () => {
    const { browser, email } = await site.signIn()
    const thief = site.openBrowser()
    thief.cookies.set(nameSessionCookie(site.url()), readSession(browser))
    expect((await thief.get("/account")).status).toBe(200)
    const other = site.openBrowser()
    await other.post("/sign-in", { email, password })
    expect((await other.get("/account")).status).toBe(200)
    const wrong = await browser.submit("/account", { current: "not this one at all", next: "another long pass phrase" })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain("This is not your current password")
    expect((await browser.submit("/account", { current: password, next: "short" })).status).toBe(422)
    expect((await other.get("/account")).status).toBe(200)
    const changed = await browser.submit("/account", { current: password, next: "another long pass phrase" })
    expect([changed.status, changed.location]).toEqual([303, "/account"])
    expect((await browser.get("/account")).text).toContain("Your password is changed.")
    expect((await other.get("/account")).status).toBe(303)
    expect((await thief.get("/account")).status).toBe(303)
    expect((await site.openBrowser().post("/sign-in", { email, password })).status).toBe(422)
    const next = "another long pass phrase"
    expect((await site.openBrowser().post("/sign-in", { email, password: next })).status).toBe(303)
  })

  it("can be ended everywhere else on the account page, and continues here", async () => {
    const { browser, email } = await site.signIn()
    const other = site.openBrowser()
    await other.post("/sign-in", { email, password })
    const [, name = "", value = ""] =
      /<button[^>]*name="([^"]+)" value="([^"]+)"[^>]*>Sign out everywhere else/.exec(
        (await browser.get("/account")).text
      ) ?? []
    const signedOut = await browser.submit("/account", { [name]: value })
    expect([signedOut.status, signedOut.location]).toEqual([303, "/account"])
    expect((await browser.get("/account")).text).toContain("You were signed out everywhere else.")
    expect((await other.get("/account")).location).toBe("/sign-in?next=%2Faccount")
  })

  it("continues when the browser signs in to another console on the same host, and signs out there", async () => {
    const { browser } = await site.signIn()
    const other = makeBrowser(neighbour.url(), neighbour.url(), browser.cookies)
    const { email } = await neighbour.signIn()
    expect((await other.post("/sign-in", { email, password: neighbour.password })).status).toBe(303)
    expect([(await browser.get("/account")).status, (await other.get("/")).status]).toEqual([200, 200])
    await other.submit("/sign-out", {}, "/")
    expect([(await browser.get("/account")).status, (await other.get("/")).status]).toEqual([200, 303])
  })

  it("replaces the previous session of the browser", async () => {
    const { browser, email } = await site.signIn()
    const copy = site.openBrowser()
    copy.cookies.set(nameSessionCookie(site.url()), readSession(browser))
    expect((await browser.post("/sign-in", { email, password })).status).toBe(303)
    expect((await copy.get("/account")).status).toBe(303)
    expect((await browser.get("/account")).status).toBe(200)
  })

  it.each(["", "x", "A".repeat(43), "%00", "../../x"])("is rejected with an invented token: %j", async (token) => {
    const browser = site.openBrowser()
    browser.cookies.set(nameSessionCookie(site.url()), token)
    expect((await browser.get("/account")).location).toBe("/sign-in?next=%2Faccount")
  })
})

describe("signing in", () => {
  it("returns the same page for a wrong password and an unknown address, and never shows a password", async () => {
    const { email } = await site.signIn()
    const wrong = await site.openBrowser().post("/sign-in", { email, password: "not the right one" })
    const unknown = await site
      .openBrowser()
      .post("/sign-in", { email: "nobody@example.com", password: "not the right one" })
    expect([wrong.status, unknown.status]).toEqual([422, 422])
    expect(wrong.text.replace(email, "")).toBe(unknown.text.replace("nobody@example.com", ""))
    expect(wrong.text).toContain("E-mail address or password is wrong")
    expect(wrong.text).not.toContain("not the right one")
    expect(wrong.headers.getSetCookie()).toEqual([])
  })

  it("leads back to the requested page", async () => {
    const { email } = await site.signIn()
    const visit = await site.openBrowser().get("/usage?from=2026-01-01")
    expect(visit.location).toBe("/sign-in?next=%2Fusage%3Ffrom%3D2026-01-01")
    const signedIn = await site.openBrowser().post(visit.location ?? "", { email, password })
    expect(signedIn.location).toBe("/usage?from=2026-01-01")
  })

  it("redirects a person who is already signed in", async () => {
    const { browser } = await site.signIn()
    expect((await browser.get("/sign-in")).location).toBe("/")
    expect((await browser.get("/sign-in?next=%2Fusage%3Ffrom%3D2026-01-01")).location).toBe("/usage?from=2026-01-01")
    expect((await browser.get("/sign-in?next=%2F%2Fevil.example")).location).toBe("/")
  })

  it("never leads to another site", async () => {
    const { email } = await site.signIn()
    for (const next of [
      "//evil.example",
      "/\\evil.example",
      "https://evil.example",
      "/%09/evil.example",
      "javascript:1",
      "/.//evil.example"
    ]) {
      const { location } = await site
        .openBrowser()
        .post(`/sign-in?next=${encodeURIComponent(next)}`, { email, password })
      expect(new URL(location ?? "", "http://console.example").origin).toBe("http://console.example")
    }
  })

  it("returns 429 after failures, except to browsers that have signed in with that address", async () => {
    const { browser, email } = await site.signIn()
    await failUntilRefused((typed) => site.openBrowser().post("/sign-in", { email, password: typed }))
    const correct = await site.openBrowser().post("/sign-in", { email, password })
    expect(correct.status).toBe(429)
    const [, seconds = ""] = /Too many attempts\. Try again in (\d+) seconds?\./.exec(correct.text) ?? []
    expect(correct.headers.get("retry-after")).toBe(seconds)
    await browser.submit("/sign-out", {}, "/")
    expect((await browser.post("/sign-in", { email, password })).status).toBe(303)
  })

  it.each([
    ["x-forwarded-for", "made up, 192.0.2.7", "made up, 198.51.100.1"],
    ["x-forwarded-for", "made up, 192.0.2.8:4101", "made up, 198.51.100.1:4102"],
    ["x-forwarded-for", "[2001:db8:8::9]:4444", '"[2001:db8:9::9]:4444"'],
    ["forwarded", "for=_hidden, for=192.0.2.9", 'for=_hidden, for="[2001:db8:a::9]:4444";proto=https']
  ])("delays only the failing address behind a local proxy: %s: %s", async (header, failing, other) => {
    const { email } = await site.signIn()
    const signInFrom = (caller: string, typed: string) =>
      site.openBrowser().post("/sign-in", { email, password: typed }, { origin: site.url(), [header]: caller })
    await failUntilRefused((typed) => signInFrom(failing, typed))
    expect((await signInFrom(failing, password)).status).toBe(429)
    expect((await signInFrom(other, password)).status).toBe(303)
  })
})

describe("a visitor who is not signed in", () => {
  it("is redirected to the sign-in page by every page and every form", async () => {
    const browser = site.openBrowser()
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
      const page = await browser.get(path)
      expect([path, page.status, page.location?.split("?")[0]]).toEqual([path, 303, "/sign-in"])
    }
    expect((await browser.post("/sign-out", {})).location).toBe("/sign-in")
    for (const path of ["/keys/new", "/keys/key_x", "/keys/key_x/revoke", "/account"]) {
      const page = await browser.post(path, { name: "x", access: "all", budget: "1" })
      expect([path, page.status, page.location]).toEqual([path, 303, `/sign-in?next=${encodeURIComponent(path)}`])
    }
    expect((await browser.get("/sign-in")).text).toContain("You are not signed in, so nothing was changed.")
  })

  it("returns to the page of a form, with its parameters", async () => {
    const browser = makeBrowser(site.url())
    const postFrom = (referer: string) =>
      browser.post("/billing/top-up", { amount: "33.00" }, { origin: site.url(), referer })
    const page = "/billing/top-up?amount=33"
    expect((await postFrom(`${site.url()}${page}`)).location).toBe(`/sign-in?next=${encodeURIComponent(page)}`)
    for (const referer of [`${site.url()}/billing?amount=33`, "nowhere", ""]) {
      expect((await postFrom(referer)).location).toBe("/sign-in?next=%2Fbilling%2Ftop-up")
    }
  })

  it("reaches /healthz, and no endpoint of the API", async () => {
    const browser = makeBrowser(site.url())
    expect(JSON.parse((await browser.get("/healthz")).text)).toMatchObject({ status: "alive" })
    expect((await browser.get("/v1/commodities")).status).toBe(404)
  })
})

it("metrics count sign-in attempts, and logs name people who create, change or revoke a key only by id", async () => {
  const { browser, email } = await site.signIn()
  const readMetric = async (outcome: string) => {
    const { text } = await browser.get("/metrics")
    return Number(new RegExp(`^larder_sign_ins_total{outcome="${outcome}"} (\\d+)$`, "m").exec(text)?.[1])
  }
  const before = await Promise.all(["signed_in", "refused", "put_off"].map(readMetric))
  await site.openBrowser().post("/sign-in", { email, password: "not the right one" })
  await site.openBrowser().post("/sign-in", { email, password })
  const after = await Promise.all(["signed_in", "refused", "put_off"].map(readMetric))
  expect(after).toEqual([(before[0] ?? 0) + 1, (before[1] ?? 0) + 1, before[2]])
  await site.signIn() // with an invitation link
  expect(await readMetric("signed_in")).toBe((after[0] ?? 0) + 1)

  const key = { name: "Dashboard", access: "all", budget: "25" }
  const secret = findKey((await browser.submit("/keys/new", key)).text) ?? "none"
  const id = /\/keys\/(key_\w+)"/.exec((await browser.get("/keys")).text)?.[1] ?? ""
  await browser.submit(`/keys/${id}`, { ...key, name: "Board" })
  await browser.submit(`/keys/${id}/rotate`, { overlap: "1" })
  await browser.submit(`/keys/${id}/revoke`)
  const lines = site.logs().split("\n")
  const findLines = (message: string) => lines.filter((line) => line.includes(message) && line.includes(id))
  for (const message of ["key created", "key changed", "key replaced", "key revoked"]) {
    expect(findLines(message), message).toEqual([expect.stringMatching(/pers_\w{20}/)])
  }
  expect(lines.filter((line) => line.includes("sign-in refused") && line.includes("pers_"))).not.toEqual([])
  expect(site.logs()).not.toContain(email)
  expect(site.logs()).not.toContain(secret)
})

it("logs contain no password, session or invitation link", async () => {
  const { browser } = await site.signIn()
  const logs = site.logs()
  expect(logs).not.toContain(password)
  expect([...browser.cookies.values()].filter((secret) => logs.includes(secret))).toEqual([])
  expect(logs).not.toContain("/invitation/")
})

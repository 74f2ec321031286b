/** Two servers with one PostgreSQL behind one address, and people whose requests reach either of them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { newKey } from "../console/key-forms.ts"
import { type Browser, makeBrowser } from "../support/console/browser.ts"
import { findKey, readHiddenFields } from "../support/console/pages.ts"
import { password, startOwnConsole } from "../support/console/served-console.ts"
import { type Server, startServer } from "../support/programs.ts"

const address = "http://console.example"
const site = startOwnConsole({ environment: { LARDER_CONSOLE_URL: address } })
let second: Server
beforeAll(async () => {
  second = await startServer(site.home(), site.environment())
})
afterAll(() => second?.stop())

const openSecond = (cookies?: Browser["cookies"]) => makeBrowser(second.console, address, cookies)
/** The same browser at the other server. */
const moveToSecond = ({ cookies }: Browser) => openSecond(cookies)
const newPassword = "quite another pass phrase"
const signIn = async (browser: Browser, email: string, password: string) =>
  (await browser.post("/sign-in", { email, password })).status
/** The status of the account page, or the path of the redirect if the browser is signed out. */
const getAccount = async (browser: Browser) => {
  const { location, status } = await browser.get("/account")
  return location === null ? status : location.split("?")[0]
}

describe("a session at one of two servers", () => {
  it("continues at the other server", async () => {
    const { browser, email } = await site.signIn()
    const { status, text } = await moveToSecond(browser).get("/account")
    expect([status, text.includes(email)]).toEqual([200, true])
  })

  it("ends at both servers after a sign-out at one of them", async () => {
    const { browser } = await site.signIn()
    const otherBrowser = moveToSecond(browser)
    expect((await otherBrowser.submit("/sign-out", {}, "/")).location).toBe("/sign-in")
    expect([await getAccount(browser), await getAccount(moveToSecond(browser))]).toEqual(["/sign-in", "/sign-in"])
  })

  it("ends when the password is changed at the other server, and only the new password works", async () => {
    const { browser, email } = await site.signIn()
    const otherBrowser = openSecond()
    expect(await signIn(otherBrowser, email, password)).toBe(303)
    expect((await otherBrowser.submit("/account", { current: password, next: newPassword })).status).toBe(303)
    expect(await getAccount(browser)).toBe("/sign-in")
    expect(await getAccount(otherBrowser)).toBe(200)
    expect(await signIn(browser, email, password)).toBe(422)
    expect(await signIn(browser, email, newPassword)).toBe(303)
    expect(await getAccount(moveToSecond(browser))).toBe(200)
  })

  it("ends when the person signs out everywhere else at the other server", async () => {
    const { browser, email } = await site.signIn()
    const otherBrowser = openSecond()
    await signIn(otherBrowser, email, password)
    await otherBrowser.submit("/account", { sign_out_elsewhere: "yes" })
    expect([await getAccount(browser), await getAccount(otherBrowser)]).toEqual(["/sign-in", 200])
  })

  it("can begin with a link at either server, and the link is used up at both", async () => {
    const { id } = await site.createAccount()
    const link = await site.invite(id)
    const otherBrowser = openSecond()
    expect((await otherBrowser.post(link, { email: "guest@example.com", password })).status).toBe(303)
    expect(await getAccount(otherBrowser)).toBe(200)
    expect((await site.openBrowser().get(link)).status).toBe(410)
  })
})

describe("a form that was opened at one of two servers", () => {
  it("is accepted by the other server, and refused by it for another person", async () => {
    const [{ browser }, stranger] = [await site.signIn(), await site.signIn()]
    const form = { ...readHiddenFields((await browser.get("/keys/new")).text), ...newKey }
    expect((await moveToSecond(stranger.browser).post("/keys/new", form)).status).toBe(409)
    expect(findKey((await moveToSecond(browser).post("/keys/new", form)).text)).toBeDefined()
  })
})

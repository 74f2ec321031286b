/** Two servers with one PostgreSQL, and people whose requests reach either of them. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Browser, makeBrowser } from "../support/console/browser.ts"
import { password, useSharedConsole } from "../support/console/served-console.ts"
import { type Server, startServer } from "../support/programs.ts"

const site = useSharedConsole()
let second: Server
beforeAll(async () => {
  second = await startServer(site.home(), site.environment())
})
afterAll(() => second?.stop())

/** The same browser, with its cookies, at the other server. */
const moveToSecond = ({ cookies }: Browser) => {
  const browser = makeBrowser(second.console)
  for (const [name, value] of cookies) browser.cookies.set(name, value)
  return browser
}
const newPassword = "quite another pass phrase"
const signIn = async (browser: Browser, email: string, password: string) =>
  (await browser.post("/sign-in", { email, password })).status
/** The status of the account page, or the path of the redirect if the browser is signed out. */
const getAccount = async (browser: Browser) => {
  const { location, status } = await browser.get("/account")
  return location === null ? status : location.split("?")[0]
}

describe("a sign-in at one of two servers", () => {
  it("continues at the other server", async () => {
    const { browser, email } = await site.signIn()
    const { status, text } = await moveToSecond(browser).get("/account")
    expect([status, text.includes(email)]).toEqual([200, true])
  })

  it("ends at both servers after a sign-out at one of them", async () => {
    const here = (await site.signIn()).browser
    const there = moveToSecond(here)
    expect((await there.post("/sign-out", {})).location).toBe("/sign-in")
    expect([await getAccount(here), await getAccount(moveToSecond(here))]).toEqual(["/sign-in", "/sign-in"])
  })

  it("ends when the password is changed at the other server, and only the new password works", async () => {
    const { browser: here, email } = await site.signIn()
    const there = makeBrowser(second.console)
    expect(await signIn(there, email, password)).toBe(303)
    expect((await there.post("/account", { current: password, next: newPassword })).status).toBe(303)
    expect(await getAccount(here)).toBe("/sign-in")
    expect(await getAccount(there)).toBe(200)
    expect(await signIn(here, email, password)).toBe(422)
    expect(await signIn(here, email, newPassword)).toBe(303)
    expect(await getAccount(moveToSecond(here))).toBe(200)
  })

  it("ends when the person signs out everywhere else at the other server", async () => {
    const { browser: here, email } = await site.signIn()
    const there = makeBrowser(second.console)
    await signIn(there, email, password)
    await there.post("/account", { sign_out_elsewhere: "yes" })
    expect([await getAccount(here), await getAccount(there)]).toEqual(["/sign-in", 200])
  })

  it("can begin with a link at either server, and the link is used up at both", async () => {
    const { id } = await site.createAccount()
    const link = await site.invite(id)
    const there = makeBrowser(second.console)
    expect((await there.post(link, { email: "guest@example.com", password })).status).toBe(303)
    expect(await getAccount(there)).toBe(200)
    expect((await site.openBrowser().get(link)).status).toBe(410)
  })
})

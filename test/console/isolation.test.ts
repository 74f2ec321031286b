/**
 * People cannot read or change another account: every page of the console is requested with the other account's ids in its
 * path, parameters and forms, and every form that one person has opened is sent by another. A page without an entry in
 * `listRequests` fails the test, so new pages are also tested.
 */
import { pages } from "@larder/serve/console"
import { beforeAll, describe, expect, it } from "vitest"
import type { PageResponse } from "../support/console/browser.ts"
import { listForms, type OpenedForm, readHiddenFields } from "../support/console/pages.ts"
import { password, useSharedConsole } from "../support/console/served-console.ts"
import { listAddresses, listExtraParameters, listRequests, listSimulatorRequests } from "./every-page.ts"
import { type AccountContent, type FilledAccount, fillAccount, listSecrets } from "./filled-account.ts"

const owner: AccountContent = {
  account: "Pastry of the owner",
  key: "Till of the owner",
  card: "5555555555554444",
  submission: "submission-of-the-owner",
  amounts: { budget: "1117.17", paid: "4321.09", refunded: "1234.56", recharge: "1777.71", trigger: "1313.13" }
}
const formerOwner: AccountContent = {
  account: "Kiosk of the former owner",
  key: "Till of the former owner",
  card: "5555555555554444",
  submission: "submission-of-the-former-owner",
  is_operator: true,
  amounts: { budget: "2227.27", paid: "5432.19", refunded: "2345.67", recharge: "2888.82", trigger: "2424.24" }
}
const rechargePath = "/billing/auto-recharge"
const aStranger = (who: string): AccountContent => ({
  account: `Home of ${who}`,
  key: `Key of ${who}`,
  card: "4242424242424242",
  submission: `submission-of-${who.replaceAll(" ", "-")}`,
  amounts: { budget: "25", paid: "75", refunded: "20", recharge: "30", trigger: "15" }
})

const addQuery = (address: string, query: Readonly<Record<string, string>>) =>
  `${address}?${new URLSearchParams(query)}`

/** Secrets of the other account in a response, except those in the request itself. */
const findLeaks = (other: FilledAccount, { headers, text }: PageResponse, request: string) => {
  const content = decodeURIComponent(JSON.stringify([...headers]).replaceAll(/%(?![\da-f]{2})/gi, "%25")) + text
  const sent = decodeURIComponent(request)
  return listSecrets(other)
    .filter(([, notations]) => notations.some((secret) => !sent.includes(secret) && content.includes(secret)))
    .map(([what]) => what)
}

/** The pages of an account as its own people see them. */
const readState = async ({ browser, key }: FilledAccount) => {
  const paths = ["/billing", "/billing/auto-recharge", "/billing/payments", "/billing/ledger.csv", "/keys?revoked=1"]
  const shown = await Promise.all([...paths, `/keys/${key.id}`, "/account"].map((path) => browser.get(path)))
  return shown.map(({ status, text }) => [status, text])
}

describe("an account", () => {
  const site = useSharedConsole()
  let other: FilledAccount
  beforeAll(async () => {
    other = await fillAccount(site, owner)
  })

  it("has requests for every page and every form of the console", () => {
    const requests = listRequests(other, other)
    const untested = pages.filter(({ path, post }) => {
      const { forms = [], ids = [] } = requests[path] ?? {}
      return requests[path] === undefined || (path.includes(":") && ids.length === 0) || (post && forms.length === 0)
    })
    expect(untested.map(({ path }) => path)).toEqual([])
  })

  it("shows its own people every secret that other people must not see", async () => {
    const found: Array<string> = []
    for (const [path, page] of Object.entries(listRequests(other, other))) {
      for (const address of listAddresses(path, page))
        found.push(...findLeaks(other, await other.browser.get(address), ""))
    }
    const missing = listSecrets(other).filter(([what]) => !found.includes(what))
    expect(missing).toEqual([])
  })

  it("shows nothing to a visitor who is not signed in, and cannot be changed by one", async () => {
    const browser = site.openBrowser()
    const before = await readState(other)
    for (const [path, page] of Object.entries({ ...listRequests(other, other), ...listSimulatorRequests(other) })) {
      for (const address of listAddresses(path, page)) {
        const responses = [await browser.get(address)]
        for (const form of page.forms ?? []) responses.push(await browser.post(address, form))
        for (const { location } of responses) expect([address, location?.split("?")[0]]).toEqual([address, "/sign-in"])
        expect([address, responses.flatMap((response) => findLeaks(other, response, address))]).toEqual([address, []])
      }
    }
    expect(await readState(other)).toEqual(before)
  })

  it.each([
    ["a member", false],
    ["an operator", true]
  ])("shows nothing to %s of another account, and cannot be changed by one", async (who, is_operator) => {
    const own = await fillAccount(site, { ...aStranger(who), is_operator })
    const { browser } = own
    const before = await readState(other)
    const requests = Object.entries({ ...listRequests(other, own), ...(!is_operator && listSimulatorRequests(other)) })
    const check = (request: string, response: PageResponse) => {
      expect([request, findLeaks(other, response, request)]).toEqual([request, []])
      expect([request, response.status < 500]).toEqual([request, true])
    }
    const get = async (address: string) => {
      const response = await browser.get(address)
      check(address, response)
      return response
    }
    for (const [path, page] of requests) {
      for (const address of listAddresses(path, page)) {
        for (const form of page.forms ?? [{}]) {
          const response = await browser.submit(address, { ...listExtraParameters(other), ...form })
          check(`${address} ${JSON.stringify(form)}`, response)
          if (page.ids) expect([address, [404, 405]]).toEqual([address, expect.arrayContaining([response.status])])
          if (response.location?.startsWith("/")) await get(response.location)
        }
      }
      if (page.forms) expect([path, await readState(other)]).toEqual([path, before])
    }
    for (const [path, page] of requests) {
      for (const address of listAddresses(path, page)) {
        const { status } = await get(address)
        if (page.ids) expect([address, status]).toEqual([address, 404])
        await get(addQuery(address, listExtraParameters(other)))
        for (const [name, value] of page.queries ?? []) await get(addQuery(address, { [name]: value }))
      }
    }
    expect(await readState(other)).toEqual(before)
  })

  it("is not changed by forms that a person of another account had opened in the same browser, nor is that one", async () => {
    const former = await fillAccount(site, formerOwner)
    const browser = site.openBrowser()
    const signIn = (email: string) => browser.post("/sign-in", { email, password })
    await signIn(former.email)
    const opened: Array<OpenedForm & { readonly path: string }> = []
    const open = (path: string, address: string, { text }: PageResponse) =>
      opened.push(...listForms(text, address).map((form) => ({ path, ...form })))
    for (const [path, page] of Object.entries({ ...listRequests(former, former), ...listSimulatorRequests(former) })) {
      for (const address of listAddresses(path, page)) {
        open(path, address, await browser.get(`${address}?amount=50`)) // only then a top-up has a form
      }
    }
    const recharge = { recharge_amount: "10", trigger: "50000", is_on: "yes" }
    open("confirmation", rechargePath, await browser.submit(rechargePath, recharge))
    const changing = opened.filter(({ target }) => target !== "/sign-out")
    const simulator = Object.keys(listSimulatorRequests(former))
    const withoutForm = "/billing/low-balance" // this server sends no mail
    const withForms = pages.filter(({ path, post }) => post && path !== withoutForm).map(({ path }) => path)
    expect(new Set(changing.map(({ path }) => path))).toEqual(new Set([...withForms, ...simulator, "confirmation"]))

    await signIn(other.email)
    const before = [await readState(other), await readState(former)]
    for (const { fields, target } of opened) {
      const response = await browser.post(target, fields)
      expect([target, response.status, findLeaks(former, response, target)]).toEqual([target, 409, []])
      expect(response.text).toContain(`signed in to <strong>${other.content.account}</strong> as ${other.email}.`)
    }
    expect([await readState(other), await readState(former)]).toEqual(before)
    expect((await browser.get("/account")).text).toContain(other.email)
  })

  it("is not changed by a form without its owner, with a damaged one, or with that of a colleague", async () => {
    const before = await readState(other)
    const browser = site.openBrowser()
    await browser.post("/sign-in", { email: other.colleague, password })
    const { form_owner: ofColleague = "" } = readHiddenFields((await browser.get("/keys/new")).text)
    const { form_owner = "", ...fields } = readHiddenFields((await other.browser.get("/keys/new")).text)
    const form = { ...fields, name: "Not created", access: "all", budget: "1" }
    const damaged = form_owner.replace(/.$/, (last) => (last === "A" ? "B" : "A"))
    const owners = ["", damaged, `${form_owner}A`, form_owner.slice(1), "ü".repeat(43), ofColleague]
    for (const sent of [form, ...owners.map((form_owner) => ({ ...form, form_owner }))]) {
      const { status, text } = await other.browser.post("/keys/new", sent)
      expect([sent, status, text.includes(other.content.account)]).toEqual([sent, 409, true])
      expect(text).not.toContain(other.colleague)
    }
    expect(await readState(other)).toEqual(before)
  })
})

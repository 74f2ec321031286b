/**
 * People cannot read or change another account: every page of the console is requested with the other account's ids in its
 * path, parameters and forms. A page without an entry in `listRequests` fails the test, so new pages are also tested.
 */
import { pages } from "@larder/serve/console"
import { beforeAll, describe, expect, it } from "vitest"
import type { Fields, PageResponse } from "../support/console/browser.ts"
import { readHiddenFields } from "../support/console/pages.ts"
import { password, useSharedConsole } from "../support/console/served-console.ts"
import { type AccountContent, type FilledAccount, fillAccount, listSecrets } from "./filled-account.ts"

const owner: AccountContent = {
  account: "Pastry of the owner",
  key: "Till of the owner",
  card: "5555555555554444",
  submission: "submission-of-the-owner",
  amounts: { budget: "1117.17", paid: "4321.09", refunded: "1234.56", recharge: "1777.71", trigger: "1313.13" }
}
const aStranger = (who: string): AccountContent => ({
  account: `Home of ${who}`,
  key: `Key of ${who}`,
  card: "4242424242424242",
  submission: `submission-of-${who.replaceAll(" ", "-")}`,
  amounts: { budget: "25", paid: "75", refunded: "20", recharge: "30", trigger: "15" }
})

interface PageRequests {
  /** Values of the parameter in the path. */
  readonly ids?: ReadonlyArray<string>
  /** Parameters of the query, each sent in a separate request. */
  readonly queries?: ReadonlyArray<readonly [name: string, value: string]>
  readonly forms?: ReadonlyArray<Fields>
}

/** Parameters that no page reads, added to every request. */
const listExtraParameters = ({ account, email, key, payments: [payment = ""], request }: FilledAccount) => ({
  account: account.id,
  account_id: account.id,
  person: email,
  email,
  key_id: key.id,
  payment,
  payment_id: payment,
  request_id: request
})

const newKey = { name: "Taken over", access: "all", budget: "0" }

/** By path of the page: requests with data of the other account, and with cursors from the account's own lists. */
const listRequests = (other: FilledAccount, own: FilledAccount): Readonly<Record<string, PageRequests>> => {
  const { account, entries, key, payments, request } = other
  const [payment = ""] = payments
  const charge = entries.find(({ request_id }) => request_id === request)
  const ids = [account.id, key.id, ...payments, request, other.email]
  const byKey = [["key", key.id] as const]
  return {
    "/": {},
    "/keys": { queries: [["revoked", key.id]] },
    "/keys/new": { forms: [newKey] },
    "/keys/:id": { ids: [key.id], forms: [newKey] },
    "/keys/:id/rotate": { ids: [key.id], forms: [{ overlap: "0" }] },
    "/keys/:id/revoke": { ids: [key.id], forms: [{}] },
    "/usage": { queries: byKey },
    "/usage.csv": { queries: byKey },
    "/usage/statuses.csv": { queries: byKey },
    "/requests": {
      queries: [...byKey, ["request", request], ["before", `2999-01-01T00:00:00.000Z~${request}`]]
    },
    "/billing": {},
    "/billing/card": { forms: [{}] },
    "/billing/top-up": {
      queries: [["left", payment]],
      // the other account's form, after this account's card was removed
      forms: ["saved_card", "new_card"].map((pay_with) => ({ ...other.lastTopUp, pay_with }))
    },
    "/billing/auto-recharge": {
      forms: [
        { is_on: "no" },
        { is_on: "yes", recharge_amount: "20", trigger: "1000", payments: "1000" },
        { is_on: "not_yet", recharge_amount: "20", trigger: "1000" }
      ]
    },
    "/billing/ledger": {
      queries: [
        ["before", String((charge?.position ?? 0) + 1)],
        ["what", "calls"]
      ]
    },
    "/billing/ledger.csv": {},
    "/billing/payments": { queries: [...payments, ...own.payments].map((id) => ["before", id] as const) },
    "/billing/payments/:id": { ids: payments },
    "/billing/payments/:id/receipt": { ids: payments },
    "/data": {},
    "/data/checks": {},
    "/data/feeds": { queries: [["after", key.id]] },
    "/data/prices": { queries: [["series", key.id]] },
    "/data/rejects": {
      queries: [
        ["run", key.id],
        ["before", payment]
      ]
    },
    "/data/runs": { queries: [["before", payment]] },
    "/data/runs/:id": { ids },
    "/account": { forms: [{ sign_out_elsewhere: "yes" }, { current: "not the password", next: password }] }
  }
}

/** Pages of the payment simulator. Operators may manage payments of all accounts there, so only members are tested. */
const listSimulatorRequests = ({ payments }: FilledAccount): Readonly<Record<string, PageRequests>> => ({
  "/simulator": { forms: [{ on: "outage", slow: "20", events: "none" }] },
  "/simulator/payments/:reference": {
    ids: payments.map((id) => `sim_${id}`),
    forms: [{ do: "refund" }, { do: "dispute" }]
  }
})

/** All requested addresses of a page, without queries. */
const listAddresses = (path: string, { ids = [] }: PageRequests) =>
  path.includes(":") ? ids.map((id) => path.replace(/:\w+/, encodeURIComponent(id))) : [path]

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
          const hidden = path.startsWith("/billing") ? readHiddenFields((await get(address)).text) : {}
          const response = await browser.post(address, { ...hidden, ...listExtraParameters(other), ...form })
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
})

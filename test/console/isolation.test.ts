/**
 * An account is nothing to the people of another one: every page of the console is asked with the other's ids in each of its
 * places, parameters and forms. A page that is not in `asked` fails, so that a new one is asked, too.
 */
import { pages } from "@larder/serve/console"
import { beforeAll, describe, expect, it } from "vitest"
import type { Fields, Seen } from "../support/console/browser.ts"
import { password, servedConsole } from "../support/console/served-console.ts"
import { hiddenIn } from "./billing-forms.ts"
import { type FilledAccount, type Filling, filledAccount, secretsOf } from "./filled-account.ts"

const owner: Filling = {
  account: "Pastry of the owner",
  key: "Till of the owner",
  card: "5555555555554444",
  submission: "submission-of-the-owner",
  amounts: { budget: "1117.17", paid: "4321.09", refunded: "1234.56", recharge: "1777.71", trigger: "1313.13" }
}
const stranger = (who: string): Filling => ({
  account: `Home of ${who}`,
  key: `Key of ${who}`,
  card: "4242424242424242",
  submission: `submission-of-${who.replaceAll(" ", "-")}`,
  amounts: { budget: "25", paid: "75", refunded: "20", recharge: "30", trigger: "15" }
})

interface Asked {
  /** What stands in the place of its path. */
  readonly places?: ReadonlyArray<string>
  /** Parameters of its address, each asked alone. */
  readonly queries?: ReadonlyArray<readonly [name: string, value: string]>
  readonly forms?: ReadonlyArray<Fields>
}

/** What no page takes, and every page is asked with. */
const smuggled = ({ account, email, key, payments: [payment = ""], request }: FilledAccount) => ({
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

/** By the path of each page: what of the other account is put into it, and where lists go on from one's own. */
const asked = (other: FilledAccount, own: FilledAccount): Readonly<Record<string, Asked>> => {
  const { account, entries, key, payments, request } = other
  const [payment = ""] = payments
  const called = entries.find(({ request_id }) => request_id === request)
  const ids = [account.id, key.id, ...payments, request, other.email]
  const ofCalls = [["key", key.id] as const]
  return {
    "/": {},
    "/keys": { queries: [["revoked", key.id]] },
    "/keys/new": { forms: [newKey] },
    "/keys/:id": { places: [key.id], forms: [newKey] },
    "/keys/:id/rotate": { places: [key.id], forms: [{ overlap: "0" }] },
    "/keys/:id/revoke": { places: [key.id], forms: [{}] },
    "/usage": { queries: ofCalls },
    "/usage.csv": { queries: ofCalls },
    "/usage/statuses.csv": { queries: ofCalls },
    "/requests": {
      queries: [...ofCalls, ["request", request], ["before", `2999-01-01T00:00:00.000Z~${request}`]]
    },
    "/billing": {},
    "/billing/card": { forms: [{}] },
    "/billing/top-up": {
      queries: [["left", payment]],
      // the other's very form, after the own card was removed
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
        ["before", String((called?.position ?? 0) + 1)],
        ["what", "calls"]
      ]
    },
    "/billing/ledger.csv": {},
    "/billing/payments": { queries: [...payments, ...own.payments].map((id) => ["before", id] as const) },
    "/billing/payments/:id": { places: payments },
    "/billing/payments/:id/receipt": { places: payments },
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
    "/data/runs/:id": { places: ids },
    "/account": { forms: [{ sign_out_elsewhere: "yes" }, { current: "not the password", next: password }] }
  }
}

/** Of the payment simulator: with its help an operator plays the bank of all accounts, so that only members are asked. */
const ofTheSimulator = ({ payments }: FilledAccount): Readonly<Record<string, Asked>> => ({
  "/simulator": { forms: [{ on: "outage", slow: "20", events: "none" }] },
  "/simulator/payments/:reference": {
    places: payments.map((id) => `sim_${id}`),
    forms: [{ do: "refund" }, { do: "dispute" }]
  }
})

/** All addresses that the page is asked by, without the extra ones. */
const addresses = (path: string, { places = [] }: Asked) =>
  path.includes(":") ? places.map((place) => path.replace(/:\w+/, encodeURIComponent(place))) : [path]

const withQuery = (address: string, query: Readonly<Record<string, string>>) =>
  `${address}?${new URLSearchParams(query)}`

/** What an answer tells of the other account, besides what was asked for by its very name. */
const leaks = (other: FilledAccount, { headers, text }: Seen, question: string) => {
  const told = decodeURIComponent(JSON.stringify([...headers]).replaceAll(/%(?![\da-f]{2})/gi, "%25")) + text
  const typed = decodeURIComponent(question)
  return secretsOf(other)
    .filter(([, spelt]) => spelt.some((secret) => !typed.includes(secret) && told.includes(secret)))
    .map(([what]) => what)
}

/** Everything of an account, as its own people see it. */
const stateOf = async ({ browser, key }: FilledAccount) => {
  const all = ["/billing", "/billing/auto-recharge", "/billing/payments", "/billing/ledger.csv", "/keys?revoked=1"]
  const shown = await Promise.all([...all, `/keys/${key.id}`, "/account"].map((path) => browser.get(path)))
  return shown.map(({ status, text }) => [status, text])
}

describe("an account", () => {
  const site = servedConsole()
  let other: FilledAccount
  beforeAll(async () => {
    other = await filledAccount(site, owner)
  })

  it("has something to request on every page and in every form of the console", () => {
    const known = asked(other, other)
    const unasked = pages.filter(({ path, post }) => {
      const { forms = [], places = [] } = known[path] ?? {}
      return known[path] === undefined || (path.includes(":") && places.length === 0) || (post && forms.length === 0)
    })
    expect(unasked.map(({ path }) => path)).toEqual([])
  })

  it("shows its own people everything that is searched for in the pages of others", async () => {
    const seen: Array<string> = []
    for (const [path, page] of Object.entries(asked(other, other))) {
      for (const address of addresses(path, page)) seen.push(...leaks(other, await other.browser.get(address), ""))
    }
    const unseen = secretsOf(other).filter(([what]) => !seen.includes(what))
    expect(unseen).toEqual([])
  })

  it("shows nothing to a visitor who is not signed in, and cannot be changed by one", async () => {
    const browser = site.browser()
    const before = await stateOf(other)
    for (const [path, page] of Object.entries({ ...asked(other, other), ...ofTheSimulator(other) })) {
      for (const address of addresses(path, page)) {
        const answers = [await browser.get(address)]
        for (const form of page.forms ?? []) answers.push(await browser.post(address, form))
        for (const { location } of answers) expect([address, location?.split("?")[0]]).toEqual([address, "/sign-in"])
        expect([address, answers.flatMap((answer) => leaks(other, answer, address))]).toEqual([address, []])
      }
    }
    expect(await stateOf(other)).toEqual(before)
  })

  it.each([
    ["a member", false],
    ["an operator", true]
  ])("shows nothing to %s of another account, and cannot be changed by one", async (who, is_operator) => {
    const own = await filledAccount(site, { ...stranger(who), is_operator })
    const { browser } = own
    const before = await stateOf(other)
    const all = Object.entries({ ...asked(other, own), ...(!is_operator && ofTheSimulator(other)) })
    const judge = (question: string, answer: Seen) => {
      expect([question, leaks(other, answer, question)]).toEqual([question, []])
      expect([question, answer.status < 500]).toEqual([question, true])
    }
    const get = async (address: string) => {
      const answer = await browser.get(address)
      judge(address, answer)
      return answer
    }
    for (const [path, page] of all) {
      for (const address of addresses(path, page)) {
        for (const form of page.forms ?? [{}]) {
          const carried = path.startsWith("/billing") ? hiddenIn((await get(address)).text) : {}
          const answer = await browser.post(address, { ...carried, ...smuggled(other), ...form })
          judge(`${address} ${JSON.stringify(form)}`, answer)
          if (page.places) expect([address, [404, 405]]).toEqual([address, expect.arrayContaining([answer.status])])
          if (answer.location?.startsWith("/")) await get(answer.location)
        }
      }
      if (page.forms) expect([path, await stateOf(other)]).toEqual([path, before])
    }
    for (const [path, page] of all) {
      for (const address of addresses(path, page)) {
        const { status } = await get(address)
        if (page.places) expect([address, status]).toEqual([address, 404])
        await get(withQuery(address, smuggled(other)))
        for (const [name, value] of page.queries ?? []) await get(withQuery(address, { [name]: value }))
      }
    }
    expect(await stateOf(other)).toEqual(before)
  })
})

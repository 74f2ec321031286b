/** Requests for every page of the console with the data of an account, for tests that must not miss a page. */
import type { Fields } from "../support/console/browser.ts"
import { password } from "../support/console/served-console.ts"
import type { FilledAccount } from "./filled-account.ts"

export interface PageRequests {
  /** Values of the parameter in the path. */
  readonly ids?: ReadonlyArray<string>
  /** Parameters of the query, each sent in a separate request. */
  readonly queries?: ReadonlyArray<readonly [name: string, value: string]>
  readonly forms?: ReadonlyArray<Fields>
}

/** Parameters that no page reads, added to every request. */
export const listExtraParameters = ({ account, email, key, payments: [payment = ""], request }: FilledAccount) => ({
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
export const listRequests = (other: FilledAccount, own: FilledAccount): Readonly<Record<string, PageRequests>> => {
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
    "/billing/low-balance": {
      forms: [{ is_on: "yes", threshold: "1000" }, { is_on: "no" }]
    },
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
    "/data/freshness": { queries: [["pipeline", key.id]] },
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
export const listSimulatorRequests = ({ payments }: FilledAccount): Readonly<Record<string, PageRequests>> => ({
  "/simulator": { forms: [{ on: "outage", slow: "20" }] },
  "/simulator/payments/:reference": {
    ids: payments.map((id) => `sim_${id}`),
    forms: [{ do: "refund" }]
  }
})

/** All requested addresses of a page, without queries. */
export const listAddresses = (path: string, { ids = [] }: PageRequests) =>
  path.includes(":") ? ids.map((id) => path.replace(/:\w+/, encodeURIComponent(id))) : [path]

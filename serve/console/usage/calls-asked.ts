/** The calls that a page is about, from `key` and `endpoint` in its query. A key of another account gives 404. */
import { endpoints, templateOf } from "@larder/schemas"
import { Effect } from "effect"
import { Administration, type KeySummary } from "../../ledger/index.ts"
import { select } from "../web/form.ts"
import { type Html, html } from "../web/html.ts"
import { PageNotFound } from "../web/page.ts"

export interface CallsAsked {
  readonly key: string | undefined
  readonly endpoint: string | undefined
}

const paths = endpoints.map(({ path }) => templateOf(path))

/** `Shop (…x9Qz)` */
export const keyLabel = ({ last4, name }: KeySummary): string => `${name} (…${last4})`

export type Keys = ReadonlyMap<string, KeySummary>

export const keysOf = (account_id: string) =>
  Effect.map(
    Administration.use((ledger) => ledger.listKeys({ account_id })),
    (keys): Keys => new Map(keys.map((key) => [key.id, key]))
  )

/** The key's current name, or its id. */
export const nameOf = (keys: Keys, id: string): string => {
  const key = keys.get(id)
  return key === undefined ? id : keyLabel(key)
}

/** The name for a page, with the last four characters on one line. */
export const shownName = (keys: Keys, id: string): Html => {
  const key = keys.get(id)
  return key === undefined
    ? html`<code>${id}</code>`
    : html`<span class="key-name">${key.name} <span class="nowrap">(…${key.last4})</span></span>`
}

export const callsAsked = (query: URLSearchParams, keys: Keys): Effect.Effect<CallsAsked, PageNotFound> => {
  const key = query.get("key") || undefined
  const endpoint = query.get("endpoint") || undefined
  const isKnown = (key === undefined || keys.has(key)) && (endpoint === undefined || paths.includes(endpoint))
  return isKnown ? Effect.succeed({ key, endpoint }) : Effect.fail(new PageNotFound())
}

/** The filters for the ledger and the request log. */
export const callsOf = (account_id: string, { endpoint, key }: CallsAsked) => ({
  account_id,
  ...(key !== undefined && { key_id: key }),
  ...(endpoint !== undefined && { endpoint })
})

const isRevoked = ({ revoked_at }: KeySummary) => revoked_at !== null

/** Limit of listed revoked keys; an account may have any number. */
const mostRevoked = 100

/** All keys that are not revoked, then the most recently revoked ones. Always contains the requested key. */
const offeredOf = (keys: Keys, asked: string | undefined) => {
  const all = [...keys.values()]
  const revoked = all
    .filter(isRevoked)
    .toSorted((a, b) => (b.revoked_at ?? "").localeCompare(a.revoked_at ?? ""))
    .filter(({ id }, index) => index < mostRevoked || id === asked)
  return [...all.filter((key) => !isRevoked(key)), ...revoked]
}

export const callFields = ({ endpoint, key }: CallsAsked, keys: Keys): Html =>
  html`${select({
    name: "key",
    label: "Key",
    value: key ?? "",
    options: [
      { value: "", label: "All keys" },
      ...offeredOf(keys, key).map((one) => ({
        value: one.id,
        label: `${keyLabel(one)}${isRevoked(one) ? ", revoked" : ""}`
      }))
    ]
  })}${select({
    name: "endpoint",
    label: "Endpoint",
    value: endpoint ?? "",
    options: [{ value: "", label: "All endpoints" }, ...paths.map((path) => ({ value: path, label: path }))]
  })}`

/** A path of the console with a query. */
export const linkTo = (path: string, asked: Readonly<Record<string, string | undefined>>): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(asked)) if (value) query.set(name, value)
  return query.size === 0 ? path : `${path}?${query}`
}

/** Filters the calls of a page by `key` and `endpoint` of its query. A key of another account returns 404. */
import { endpoints, templateOf } from "@larder/schemas"
import { Effect } from "effect"
import { Administration, type KeySummary } from "../../ledger/index.ts"
import { select } from "../web/form.ts"
import { type Html, html } from "../web/html.ts"
import type { PageContext } from "../web/page.ts"
import { readChoice } from "../web/query.ts"

export interface CallsFilter {
  readonly key: string | undefined
  readonly endpoint: string | undefined
}

const paths = endpoints.map(({ path }) => templateOf(path))

export type Keys = ReadonlyMap<string, KeySummary>

export const readKeys = (account_id: string) =>
  Effect.map(
    Administration.use((ledger) => ledger.listKeys({ account_id })),
    (keys): Keys => new Map(keys.map((key) => [key.id, key]))
  )

/** `Shop (…x9Qz)` */
const keyLabel = ({ last4, name }: KeySummary) => `${name} (…${last4})`

/** The key's current name and last four characters, or its id. */
export const keyName = (keys: Keys, id: string): string => {
  const key = keys.get(id)
  return key === undefined ? id : keyLabel(key)
}

/** The name for a page, with the last four characters on one line. */
export const keyNameTag = (keys: Keys, id: string): Html => {
  const key = keys.get(id)
  return key === undefined
    ? html`<code>${id}</code>`
    : html`<span class="key-name">${key.name} <span class="nowrap">(…${key.last4})</span></span>`
}

/** The filter of a page, the keys of the account, and the query for the ledger and the request log. */
export const readCallsFilter = Effect.fnUntraced(function* ({ account, url }: Pick<PageContext, "account" | "url">) {
  const keys = yield* readKeys(account.id)
  const key = yield* readChoice(url, "key", [...keys.keys()])
  const endpoint = yield* readChoice(url, "endpoint", paths)
  const filter: CallsFilter = { key, endpoint }
  const query = {
    account_id: account.id,
    ...(key !== undefined && { key_id: key }),
    ...(endpoint !== undefined && { endpoint })
  }
  return { filter, keys, query }
})

/** An account may have any number of revoked keys. */
const maxRevokedKeys = 100

/** All keys that are not revoked, then the most recently revoked ones. Always contains the requested key. */
const listOfferedKeys = (keys: Keys, requested: string | undefined) => {
  const [active, revoked] = [[...keys.values()].filter(isActive), [...keys.values()].filter((key) => !isActive(key))]
  const offered = revoked
    .toSorted((a, b) => (b.revoked_at ?? "").localeCompare(a.revoked_at ?? ""))
    .filter(({ id }, index) => index < maxRevokedKeys || id === requested)
  return [...active, ...offered]
}
const isActive = ({ revoked_at }: KeySummary) => revoked_at === null

export const callsFilterFields = ({ endpoint, key }: CallsFilter, keys: Keys): Html => {
  const keyOptions = listOfferedKeys(keys, key).map((key) => ({
    value: key.id,
    label: `${keyLabel(key)}${isActive(key) ? "" : ", revoked"}`
  }))
  const endpointOptions = paths.map((path) => ({ value: path, label: path }))
  return html`${select({ name: "key", label: "Key", allLabel: "All keys", value: key, options: keyOptions })}${select({
    name: "endpoint",
    label: "Endpoint",
    allLabel: "All endpoints",
    value: endpoint,
    options: endpointOptions
  })}`
}

/** Scopes grouped by data set, with the paths and prices of each. Derived from the list of endpoints. */
import { type Endpoint, endpoints, type Scope, scopes, templateOf } from "@larder/schemas"
import { type Html, html, usd } from "../web/html.ts"

export interface ScopeGroup {
  /** Name of the preset: letters and hyphens. */
  readonly preset: string
  readonly dataSet: Endpoint["tag"]
  readonly scopes: ReadonlyArray<{ readonly scope: Scope; readonly paths: ReadonlyArray<string> }>
}

const opened = (scope: Scope) => endpoints.filter((endpoint) => endpoint.scope === scope)

export const scopeGroups: ReadonlyArray<ScopeGroup> = [...new Set(endpoints.map(({ tag }) => tag))].map((dataSet) => ({
  preset: dataSet.toLowerCase().replaceAll(" ", "-"),
  dataSet,
  scopes: scopes.flatMap((scope) => {
    const paths = opened(scope).flatMap(({ path, tag }) => (tag === dataSet ? [templateOf(path)] : []))
    return paths.length === 0 ? [] : [{ scope, paths }]
  })
}))

/** Credits per call of each endpoint that these scopes allow. */
const pricesOf = (chosen: ReadonlyArray<Scope>) => chosen.flatMap(opened).map(({ credits }) => credits)

/** Credits of the cheapest call that these scopes allow. */
export const cheapestCall = (chosen: ReadonlyArray<Scope>): number => Math.min(...pricesOf(chosen))

/** `$0.01 a call`, or a range from the cheapest to the most expensive. */
export const priceInWords = (chosen: ReadonlyArray<Scope>): string => {
  const [cheapest, dearest] = [cheapestCall(chosen), Math.max(...pricesOf(chosen))]
  return `${usd(cheapest)}${dearest > cheapest ? ` to ${usd(dearest)}` : ""} a\u00a0call`
}

export const everything = "all"
export const chosenOneByOne = "custom"

/** Scopes of a preset; undefined if there is no such preset. */
export const scopesOfPreset = (preset: string): ReadonlyArray<Scope> | undefined =>
  preset === everything
    ? scopes
    : scopeGroups.find((group) => group.preset === preset)?.scopes.map(({ scope }) => scope)

/** The preset with exactly these scopes. */
export const presetOf = (chosen: ReadonlyArray<Scope>): string => {
  const all = [everything, ...scopeGroups.map(({ preset }) => preset)]
  const isSame = (other: ReadonlyArray<Scope> = []) =>
    other.length === new Set(chosen).size && other.every((scope) => chosen.includes(scope))
  return all.find((preset) => isSame(scopesOfPreset(preset))) ?? chosenOneByOne
}

/** In a few words, for lists. */
export const scopesInWords = (chosen: ReadonlyArray<Scope>): string => {
  if (presetOf(chosen) === everything) return "Everything"
  return scopeGroups
    .flatMap((group) => {
      const has = group.scopes.filter(({ scope }) => chosen.includes(scope))
      if (has.length === 0) return []
      return [has.length === group.scopes.length ? group.dataSet : has.map(({ scope }) => scope).join(", ")]
    })
    .join("; ")
}

/**
 * A list such as `get-store, get-product` for a page. A scope breaks at its hyphens only if it does not fit on a line.
 */
export const unbroken = (list: string): Html =>
  html`${list.split(/(?<=[,;]) /).map((name) => html`<span class="unbroken">${name}</span> `)}`

/** Scopes grouped by data set, with the paths and prices of each. Derived from the list of endpoints. */
import { endpoints, type Scope, scopes, templateOf } from "@larder/schemas"
import { type Html, html, usdText } from "../web/html.ts"

const findEndpoints = (scope: Scope) => endpoints.filter((endpoint) => endpoint.scope === scope)

/** `preset` is the name of the group in a form: letters and hyphens. */
export const scopeGroups = [...new Set(endpoints.map(({ tag }) => tag))].map((dataSet) => ({
  preset: dataSet.toLowerCase().replaceAll(" ", "-"),
  dataSet,
  scopes: scopes.flatMap((scope) => {
    const paths = findEndpoints(scope).flatMap(({ path, tag }) => (tag === dataSet ? [templateOf(path)] : []))
    return paths.length === 0 ? [] : [{ scope, paths }]
  })
}))

/** Credits per call of each endpoint that these scopes allow. */
const listPrices = (chosen: ReadonlyArray<Scope>) => chosen.flatMap(findEndpoints).map(({ credits }) => credits)

/** Credits of the cheapest call that these scopes allow. */
export const findCheapestPrice = (chosen: ReadonlyArray<Scope>): number => Math.min(...listPrices(chosen))

/** `$0.01 a call`, or a range from the cheapest to the most expensive. */
export const priceText = (chosen: ReadonlyArray<Scope>): string => {
  const [lowest, highest] = [findCheapestPrice(chosen), Math.max(...listPrices(chosen))]
  return `${usdText(lowest)}${highest > lowest ? ` to ${usdText(highest)}` : ""} a\u00a0call`
}

export const everythingPreset = "all"
export const customPreset = "custom"

/** Scopes of a preset; undefined if there is no such preset. */
export const findPresetScopes = (preset: string): ReadonlyArray<Scope> | undefined =>
  preset === everythingPreset
    ? scopes
    : scopeGroups.find((group) => group.preset === preset)?.scopes.map(({ scope }) => scope)

/** The preset with exactly these scopes, otherwise `customPreset`. */
export const findPreset = (chosen: ReadonlyArray<Scope>): string => {
  const presets = [everythingPreset, ...scopeGroups.map(({ preset }) => preset)]
  const isSame = (other: ReadonlyArray<Scope> = []) =>
    other.length === new Set(chosen).size && other.every((scope) => chosen.includes(scope))
  return presets.find((preset) => isSame(findPresetScopes(preset))) ?? customPreset
}

/** The data sets that the scopes cover completely, and other scopes one by one. */
export const scopesText = (chosen: ReadonlyArray<Scope>): string => {
  if (findPreset(chosen) === everythingPreset) return "Everything"
  return scopeGroups
    .flatMap((group) => {
      const included = group.scopes.filter(({ scope }) => chosen.includes(scope))
      if (included.length === 0) return []
      return [included.length === group.scopes.length ? group.dataSet : included.map(({ scope }) => scope).join(", ")]
    })
    .join("; ")
}

/**
 * A list such as `get-store, get-product` for a page. A scope breaks at its hyphens only if it does not fit on a line.
 */
export const unbrokenList = (list: string): Html =>
  html`${list.split(/(?<=[,;]) /).map((name) => html`<span class="unbroken">${name}</span> `)}`

/** Scopes as people choose them: by data set, with what each opens and costs. Derived from the list of endpoints. */
import { type Endpoint, templateOf } from "@larder/schemas/endpoint.ts"
import { endpoints } from "@larder/schemas/endpoints.ts"
import { type Scope, scopes } from "@larder/schemas/scopes.ts"

export interface ScopeGroup {
  /** Name of the preset: letters and hyphens. */
  readonly preset: string
  readonly dataSet: Endpoint["tag"]
  readonly scopes: ReadonlyArray<{
    readonly scope: Scope
    readonly paths: ReadonlyArray<string>
    readonly credits: number
  }>
}

const opened = (scope: Scope) => endpoints.filter((endpoint) => endpoint.scope === scope)

export const scopeGroups: ReadonlyArray<ScopeGroup> = [...new Set(endpoints.map(({ tag }) => tag))].map((dataSet) => ({
  preset: dataSet.toLowerCase().replaceAll(" ", "-"),
  dataSet,
  scopes: scopes.flatMap((scope) => {
    const ofScope = opened(scope).filter(({ tag }) => tag === dataSet)
    const [first] = ofScope
    return first === undefined
      ? []
      : [{ scope, paths: ofScope.map(({ path }) => templateOf(path)), credits: first.credits }]
  })
}))

/** Credits of the cheapest call that these scopes open. */
export const cheapestCall = (chosen: ReadonlyArray<Scope>): number =>
  Math.min(...endpoints.filter(({ scope }) => chosen.includes(scope)).map(({ credits }) => credits))

export const everything = "all"
export const chosenOneByOne = "custom"

/** Scopes of a preset; undefined where it is none. */
export const scopesOfPreset = (preset: string): ReadonlyArray<Scope> | undefined =>
  preset === everything
    ? scopes
    : scopeGroups.find((group) => group.preset === preset)?.scopes.map(({ scope }) => scope)

/** The preset that is exactly these scopes. */
export const presetOf = (chosen: ReadonlyArray<Scope>): string => {
  const all = [everything, ...scopeGroups.map(({ preset }) => preset)]
  const isSame = (other: ReadonlyArray<Scope> = []) =>
    other.length === chosen.length && other.every((scope) => chosen.includes(scope))
  return all.find((preset) => isSame(scopesOfPreset(preset))) ?? chosenOneByOne
}

/** In a few words, for lists. */
export const scopesInWords = (chosen: ReadonlyArray<Scope>): string => {
  if (chosen.length === scopes.length) return "Everything"
  return scopeGroups
    .flatMap((group) => {
      const has = group.scopes.filter(({ scope }) => chosen.includes(scope))
      if (has.length === 0) return []
      return [has.length === group.scopes.length ? group.dataSet : has.map(({ scope }) => scope).join(", ")]
    })
    .join("; ")
}

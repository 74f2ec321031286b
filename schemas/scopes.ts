/** The scopes that a key can have. Each endpoint requires exactly one. */
import { Schema } from "effect"
import { dataSets } from "./data-sets.ts"

export type Scope = (typeof dataSets)[number]["scopes"][number]

const [firstDataSet, ...otherDataSets] = dataSets // taken apart, because the type needs at least one scope
export const scopes: readonly [Scope, ...Array<Scope>] = [
  ...firstDataSet.scopes,
  ...otherDataSets.flatMap((dataSet): ReadonlyArray<Scope> => dataSet.scopes)
]

export const Scope = Schema.Literals(scopes)
export const isScope = Schema.is(Scope)

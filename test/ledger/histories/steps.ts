/** One step of a history: something happens, and then everything is checked. */
import type fc from "fast-check"
import { checkEverything, type Seen } from "./invariants.ts"
import type { Model } from "./model.ts"
import type { World } from "./world.ts"

export interface History {
  readonly world: World
  readonly seen: Seen
}
export type Step = fc.AsyncCommand<Model, History>

interface Meaning<Details> {
  /** Whether it can happen now; by default always. */
  readonly can?: (model: Readonly<Model>, details: Details) => boolean
  readonly happens: (world: World, details: Details) => Promise<void>
}

/** Each run of a history takes new ones, so they keep nothing. */
export const step = <Details>(
  name: string,
  details: fc.Arbitrary<Details>,
  { can = () => true, happens }: Meaning<Details>
): fc.Arbitrary<Step> =>
  details.map((drawn) => ({
    check: (model) => can(model, drawn),
    run: async (_, { seen, world }) => {
      world.note("steps")
      world.steps++
      await happens(world, drawn)
      await checkEverything(world, seen)
    },
    toString: () => `${name}(${JSON.stringify(drawn)})`
  }))

/** Any number names one of them. There is at least one. */
export const pick = <A>(from: ReadonlyArray<A>, choice: number): A => {
  const picked = from[choice % from.length]
  if (picked === undefined) throw new Error("there is nothing to pick from")
  return picked
}

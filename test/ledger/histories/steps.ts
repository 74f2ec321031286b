/** One step of a history: an action, and then a check of everything. */
import type fc from "fast-check"
import { checkEverything, type PreviousEntries } from "./invariants.ts"
import type { Model } from "./model.ts"
import type { World } from "./world.ts"

export interface History {
  readonly world: World
  readonly previous: PreviousEntries
}
export type Step = fc.AsyncCommand<Model, History>

interface Action<Details> {
  /** Whether it is possible now; by default always. */
  readonly isPossible?: (model: Readonly<Model>, details: Details) => boolean
  readonly run: (world: World, details: Details) => Promise<void>
}

/** A step keeps no state, because each run of a history creates new steps. */
export const step = <Details>(
  name: string,
  details: fc.Arbitrary<Details>,
  { isPossible = () => true, run }: Action<Details>
): fc.Arbitrary<Step> =>
  details.map((drawn) => ({
    check: (model) => isPossible(model, drawn),
    run: async (_, { previous, world }) => {
      world.note("steps")
      world.steps++
      await run(world, drawn)
      await checkEverything(world, previous)
    },
    toString: () => `${name}(${JSON.stringify(drawn)})`
  }))

/** Maps any number to an element of a list that is not empty. */
export const pick = <A>(from: ReadonlyArray<A>, choice: number): A => {
  const picked = from[choice % from.length]
  if (picked === undefined) throw new Error("the list is empty")
  return picked
}

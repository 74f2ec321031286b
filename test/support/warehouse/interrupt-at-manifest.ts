/** A program that is interrupted right after it has put a manifest. */
import type { Layout } from "@larder/warehouse"
import { Effect, Fiber } from "effect"
import { withDepot } from "./example-data-set.ts"

/** Runs `use` with a layout whose depot interrupts it as soon as it has put a manifest. */
export const interruptAtManifest = <A, E, R>(layout: Layout, use: (layout: Layout) => Effect.Effect<A, E, R>) => {
  const { putText } = layout.depot
  const interruptSelf = Effect.withFiber((fiber) => Effect.sync(() => fiber.interruptUnsafe()))
  const depot: Layout["depot"] = {
    ...layout.depot,
    putText: (name, text) => Effect.tap(putText(name, text), () => interruptSelf)
  }
  return Effect.flatMap(Effect.forkChild(use(withDepot(layout, depot))), Fiber.await)
}

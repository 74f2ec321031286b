/** Which signal stops this program: a person at the terminal sends SIGINT and knows, everyone else sends SIGTERM. */
import { Context, Effect } from "effect"

const signals = ["SIGINT", "SIGTERM"] as const
type Signal = (typeof signals)[number]

/** Undefined until a signal arrives. The first one counts: shells and npm pass it on again. */
export const StopSignal = Context.Reference<() => Signal | undefined>("larder/warehouse/StopSignal", {
  defaultValue: () => () => undefined
})

const watch = Effect.sync(() => {
  let first: Signal | undefined
  const note = (signal: Signal) => {
    first ??= signal
  }
  for (const signal of signals) process.on(signal, note)
  return { first: () => first, note }
})

export const withStopSignal = <A, E, R>(program: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    watch,
    ({ first }) => Effect.provideService(program, StopSignal, first),
    ({ note }) =>
      Effect.sync(() => {
        for (const signal of signals) process.off(signal, note)
      })
  )

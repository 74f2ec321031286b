/** Runs work of this process, and returns its result and the lines of its log, without level and time. */
import { Effect, Layer, Logger, References } from "effect"

export const collectLog = <A, E, R>(work: Effect.Effect<A, E, R>) => {
  const lines: Array<Readonly<Record<string, unknown>>> = []
  const logger = Logger.make(({ fiber, message }) => {
    lines.push({ event: String(message), ...fiber.getRef(References.CurrentLogAnnotations) })
  })
  const everything = Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "Info"))
  return Effect.map(Effect.provide(work, everything), (result) => ({ result, lines }))
}

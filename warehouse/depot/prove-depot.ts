/**
 * Tests that a depot has exactly one winner if several programs write the same name. Some services ignore the condition
 * and overwrite. Others apply it to sequential requests, but not to concurrent ones. A race can only show that a service
 * is unsuitable, so there are several races.
 */
import { randomUUID } from "node:crypto"
import { type Duration, Effect, Option } from "effect"
import { type Depot, DepotUnusable } from "./depot.ts"

/** These numbers detected a service that lets up to twenty writers win a race, in twelve of twelve tests. */
const raceCount = 8
const racerCount = 16

const timeout: Duration.Input = "1 minute"

const unusable = (depot: Depot, problem: string, advice: string) =>
  new DepotUnusable({ attempt: `use ${depot.location} as a depot`, cause: new Error(problem), advice })

const conditionsUnsupported = (depot: Depot, fault: string) =>
  unusable(
    depot,
    `${fault}, so two runs could overwrite each other`,
    "Use a service that supports If-None-Match: *, such as AWS S3, Ceph RGW, MinIO or versitygw, or a folder."
  )

/** Fails if it is unsafe to publish to the depot. Removes its files; if killed, a few bytes in `proofs/` stay. */
export const proveDepot = Effect.fn("Depot.proveDepot")(function* (depot: Depot) {
  const folder = `proofs/${randomUUID()}`
  /** Writes one name `count` times, each time with a different text, sequentially or concurrently. */
  const race = Effect.fnUntraced(function* (name: string, concurrency: 1 | "unbounded", count: number) {
    const texts = Array.from({ length: count }, () => JSON.stringify({ id: randomUUID() }))
    const successes = yield* Effect.forEach(texts, (text) => depot.putText(name, text), { concurrency })
    const winners = texts.filter((_, index) => successes[index])
    if (winners.length !== 1) {
      const order = concurrency === 1 ? "sequential" : "concurrent"
      const fault = `${winners.length} of ${count} ${order} writes of the same name succeeded`
      return yield* conditionsUnsupported(depot, fault)
    }
    if (!Option.contains(yield* depot.readText(name), winners[0])) {
      return yield* conditionsUnsupported(depot, "it stored a text other than the first one")
    }
  })

  const names = Array.from({ length: raceCount + 1 }, (_, number) => `${folder}/${number}.json`)
  const cleanUp = depot
    .remove(names)
    .pipe(Effect.catch((error) => Effect.logWarning(`${error.message} These names can be removed: ${folder}/`)))
  const runRace = (name: string, index: number) =>
    index === 0 ? race(name, 1, 2) : race(name, "unbounded", racerCount)
  yield* Effect.forEach(names, runRace, { discard: true }).pipe(
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () =>
        Effect.fail(
          unusable(depot, `its test took longer than ${timeout}`, "Check the network and the service, and start again.")
        )
    }),
    Effect.ensuring(cleanUp)
  )
})

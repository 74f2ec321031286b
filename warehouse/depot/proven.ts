/**
 * Proves that a depot has one winner if several programs put the same name. Some services ignore the condition and
 * overwrite. Others honour it for one request after the other, but not for concurrent ones. A race can only refute a
 * service, so there are several races.
 */
import { randomUUID } from "node:crypto"
import { type Duration, Effect, Option } from "effect"
import { type Depot, DepotUnusable } from "./depot.ts"

/** These numbers refuted a service that lets up to twenty win a race, in twelve of twelve proofs. */
const races = 8
const racers = 16

const longest: Duration.Input = "1 minute"

const refuse = (depot: Depot, problem: string, advice: string) =>
  new DepotUnusable({ attempt: `use ${depot.location} as a depot`, cause: new Error(problem), advice })

const holdsNoConditions = (depot: Depot, what: string) =>
  refuse(
    depot,
    `${what}, so two runs could overwrite each other`,
    "Use a service that supports If-None-Match: *, such as AWS S3, Ceph RGW, MinIO or versitygw, or a folder."
  )

/** Fails if a depot must not be published to. Leaves nothing behind; if killed, a few bytes below `proofs/`. */
export const proven = Effect.fn("Depot.proven")(function* (depot: Depot) {
  const folder = `proofs/${randomUUID()}`
  const nameOf = (race: number) => `${folder}/${race}.json`

  /** Puts one name `count` times, each time with another text: one after the other, or all concurrently. */
  const race = Effect.fnUntraced(function* (name: string, concurrency: 1 | "unbounded", count: number) {
    const texts = Array.from({ length: count }, () => JSON.stringify({ id: randomUUID() }))
    const won = yield* Effect.forEach(texts, (text) => depot.putText(name, text), { concurrency })
    const winners = texts.filter((_, at) => won[at])
    if (winners.length !== 1) {
      const how = concurrency === 1 ? "one after the other" : "at once"
      return yield* holdsNoConditions(
        depot,
        `of ${count} that put the same name ${how}, ${winners.length} were told that they were first`
      )
    }
    if (!Option.contains(yield* depot.text(name), winners[0])) {
      return yield* holdsNoConditions(depot, "it stored another text than that of the first")
    }
  })

  const names = Array.from({ length: races + 1 }, (_, number) => nameOf(number))
  const cleared = depot
    .remove(names)
    .pipe(Effect.catch((error) => Effect.logWarning(`${error.message} These names can be removed: ${folder}/`)))
  const all = Effect.forEach(names, (name, at) => race(name, at === 0 ? 1 : "unbounded", at === 0 ? 2 : racers), {
    discard: true
  })
  yield* all.pipe(
    Effect.timeoutOrElse({
      duration: longest,
      orElse: () =>
        Effect.fail(
          refuse(depot, `its test took longer than ${longest}`, "Check the network and the service, and start again.")
        )
    }),
    Effect.ensuring(cleared)
  )
})

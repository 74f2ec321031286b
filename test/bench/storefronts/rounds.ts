/**
 * What a daily round costs of a list of stores that hardly change, beside the first one: four weeks of runs a day apart by an
 * injected clock, over real HTTP to as many servers. Times are not measured: a live round is paced by its hosts.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { storefronts } from "@larder/pipelines"
import { Effect } from "effect"
import { ingestLive } from "../../support/pipelines/live-runs.ts"
import { startStores } from "../../support/pipelines/store-rounds.ts"
import { inTemporaryFolder } from "../temporary-folder.ts"

const days = 28

interface Round {
  readonly day: number
  /** Stores of the list that were asked. */
  readonly asked: number
  /** Stores that changed since the round before, asked or not. */
  readonly changed: number
  readonly requests: number
  readonly bytes: number
}

const percent = (part: number, whole: number) => `${((part / whole) * 100).toFixed(1)} %`
const grouped = (count: number) => Math.round(count).toLocaleString("en-US")

const measure = (count: number, folder: string) =>
  Effect.gen(function* () {
    const { list, look, pass } = yield* startStores(count)
    const [home, stores] = [path.join(folder, "home"), path.join(folder, "stores.json")]
    writeFileSync(stores, JSON.stringify(list))
    const environment = { LARDER_PRIVATE_HOSTS: "127.0.0.1" }
    const rounds: Array<Round> = []
    for (let day = 0; day < days; day++) {
      const changed = pass(day)
      const {
        problem,
        run,
        stores: told
      } = yield* Effect.promise(() => ingestLive(storefronts, { home, stores, environment, ahead: `${day} days` }))
      if (run === null || problem !== "" || told === undefined) return yield* Effect.die(new Error(problem))
      const { bytes, requests } = look()
      rounds.push({ day, asked: told.listed - told.not_due, changed: changed.length, requests, bytes })
      console.log(`day ${day}: ${grouped(told.listed - told.not_due)} stores, ${grouped(requests)} requests`)
    }
    return rounds
  })

const mean = (rounds: ReadonlyArray<Round>, count: (round: Round) => number) =>
  rounds.reduce((sum, round) => sum + count(round), 0) / rounds.length

/** Rounds of a week, on average, beside the first. */
const printWeeks = (rounds: ReadonlyArray<Round>) => {
  const [first] = rounds
  if (first === undefined) return
  const weeks = [
    ["the first round", [first]],
    ["days 1 to 7", rounds.slice(1, 8)],
    ["days 8 to 14", rounds.slice(8, 15)],
    ["days 15 to 27", rounds.slice(15)]
  ] as const
  console.table(
    weeks.map(([round, those]) => ({
      round,
      "stores asked": grouped(mean(those, ({ asked }) => asked)),
      "stores that changed": grouped(mean(those, ({ changed }) => changed)),
      requests: grouped(mean(those, ({ requests }) => requests)),
      "of the first": percent(
        mean(those, ({ requests }) => requests),
        first.requests
      ),
      "bytes of payload": grouped(mean(those, ({ bytes }) => bytes)),
      "of the first, bytes": percent(
        mean(those, ({ bytes }) => bytes),
        first.bytes
      )
    }))
  )
}

export const measureRounds = async (stores: number) => {
  console.log(`\nRounds: ${grouped(stores)} stores, ${days} days`)
  await inTemporaryFolder("rounds", async (folder) => {
    printWeeks(await Effect.runPromise(Effect.scoped(measure(stores, folder))))
  })
}

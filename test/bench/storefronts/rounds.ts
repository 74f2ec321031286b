/**
 * Measures the requests of daily rounds over stores that rarely change, compared with the first round: four weeks of an
 * injected clock, over HTTP to one server per store. Times are not measured, because hosts limit the pace of live rounds.
 */
import { writeFileSync } from "node:fs"
import path from "node:path"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import { Effect } from "effect"
import { ingestLive } from "../../support/pipelines/live-runs.ts"
import { startStores } from "../../support/pipelines/store-rounds.ts"
import { isQuick } from "../effort.ts"
import { inTemporaryFolder } from "../temporary-folder.ts"

const days = isQuick ? 2 : 28

interface Round {
  readonly day: number
  /** Stores that were read. */
  readonly read: number
  /** Stores that changed since the previous round, read or not. */
  readonly changed: number
  readonly requests: number
  readonly bytes: number
}

const formatPercent = (part: number, whole: number) => `${((part / whole) * 100).toFixed(1)} %`
const formatCount = (count: number) => Math.round(count).toLocaleString("en-US")

const measure = (count: number, folder: string) =>
  Effect.gen(function* () {
    const { list, takeTraffic, changeStores } = yield* startStores(count)
    const [home, stores] = [path.join(folder, "home"), path.join(folder, "stores.json")]
    writeFileSync(stores, JSON.stringify(list))
    const environment = { LARDER_PRIVATE_HOSTS: "127.0.0.1" }
    const rounds: Array<Round> = []
    for (let day = 0; day < days; day++) {
      const changed = changeStores(day)
      const {
        problem,
        run,
        stores: status
      } = yield* Effect.promise(() => ingestLive(storefronts, { home, stores, environment, ahead: `${day} days` }))
      if (run === null || problem !== "" || status === undefined) return yield* Effect.die(new Error(problem))
      const { bytes, requests } = takeTraffic()
      rounds.push({ day, read: status.listed - status.not_due, changed: changed.length, requests, bytes })
      console.log(
        `day ${day}: ${formatCount(status.listed - status.not_due)} stores, ${formatCount(requests)} requests`
      )
    }
    return rounds
  })

const mean = (rounds: ReadonlyArray<Round>, count: (round: Round) => number) =>
  rounds.reduce((sum, round) => sum + count(round), 0) / rounds.length

/** Prints averages of the rounds of each week, compared with the first round. */
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
    weeks
      .filter(([, days]) => days.length > 0)
      .map(([round, days]) => ({
        round,
        "stores read": formatCount(mean(days, ({ read }) => read)),
        "stores that changed": formatCount(mean(days, ({ changed }) => changed)),
        requests: formatCount(mean(days, ({ requests }) => requests)),
        "requests, first = 100 %": formatPercent(
          mean(days, ({ requests }) => requests),
          first.requests
        ),
        "bytes of payload": formatCount(mean(days, ({ bytes }) => bytes)),
        "bytes, first = 100 %": formatPercent(
          mean(days, ({ bytes }) => bytes),
          first.bytes
        )
      }))
  )
}

export const measureRounds = async (stores: number) => {
  console.log(`\nRounds: ${formatCount(stores)} stores, ${days} days`)
  await inTemporaryFolder("rounds", async (folder) => {
    printWeeks(await Effect.runPromise(Effect.scoped(measure(stores, folder))))
  })
}

/** Foods by id, uniformly random over all labels, against bare h3 and against one DuckDB query per request. */

import { brandedFoodId } from "@larder/schemas"
import { Chance } from "../../samples/branded-foods/chance.ts"
import type { Server } from "../../support/programs.ts"
import { load, type Measured, middle } from "../load.ts"
import { answerOf, startChild } from "../servers.ts"
import { askAll } from "./ask.ts"

const rounds = 5
const seconds = 5
/** More than a round asks for, so that none comes twice. */
const idsOfRound = 150_000

const pathOf = (fdcId: number) => `/v1/branded-foods/${brandedFoodId(fdcId)}`

const randomPaths = (ids: Int32Array, round: number) => {
  const chance = new Chance().start(1, 1, round)
  return Array.from({ length: idsOfRound }, () => pathOf(ids[chance.below(ids.length)] ?? 0))
}

/** Of some random foods, the one whose answer is closest to the mean in size. */
const typicalPath = async (api: string, key: string, ids: Int32Array) => {
  const paths = randomPaths(ids, -1).slice(0, 500)
  const answers = await askAll({ api, key, connections: 1 }, paths, async (path, get) => ({
    path,
    length: (await get(path)).body.length
  }))
  const mean = answers.reduce((sum, { length }) => sum + length, 0) / answers.length
  const [nearest] = answers.toSorted((a, b) => Math.abs(a.length - mean) - Math.abs(b.length - mean))
  return nearest?.path ?? ""
}

export const measureRecords = async (served: Server, key: string, database: string, ids: Int32Array) => {
  const answer = await answerOf(served.api + (await typicalPath(served.api, key, ids)), key)
  const bare = await startChild("bare.ts", JSON.stringify(answer))
  const query = await startChild("foods/one-query.ts", database)
  try {
    const servers = { bare: bare.api, query: query.api, charged: served.api }
    const measured: Record<keyof typeof servers, Array<Measured>> = { bare: [], query: [], charged: [] }
    const names = ["bare", "query", "charged"] as const
    for (const name of names) await load({ url: servers[name], paths: randomPaths(ids, -2), key, seconds: 2 }) // warm up
    for (let round = 0; round < rounds; round++) {
      const paths = randomPaths(ids, round)
      for (const name of names) measured[name].push(await load({ url: servers[name], paths, key, seconds }))
    }
    const rows = { bare: middle(measured.bare), query: middle(measured.query), charged: middle(measured.charged) }
    const failed = names.filter((name) => rows[name].failed > 0)
    if (failed.length > 0) throw new Error(`calls failed: ${failed.join(", ")}`)
    const rate = (name: keyof typeof servers) => rows[name].requests_per_second
    console.log(
      `One food by id, random over ${ids.length} labels, 64 connections, ${answer.body.length} characters in the mean`
    )
    console.table({
      "bare h3, one answer of the mean size, same headers": rows.bare,
      "one DuckDB query per request, free of charge": rows.query,
      "larder-serve, charged and durable": rows.charged
    })
    console.table({
      "B2 charged ÷ bare h3 (≥ 0.25)": { measured: (rate("charged") / rate("bare")).toFixed(2) },
      "B2 charged ÷ one query per request (≥ 8)": { measured: (rate("charged") / rate("query")).toFixed(1) }
    })
  } finally {
    bare.stop()
    query.stop()
  }
}

/** Measures foods by random id, compared with bare h3 and with one DuckDB query per request. */
import { brandedFoodId } from "@larder/schemas"
import { Chance } from "../../samples/branded-foods/chance.ts"
import type { Server } from "../../support/programs.ts"
import { countRounds, limitSeconds } from "../effort.ts"
import { combineRounds, load, type Measured } from "../load.ts"
import { fetchResponse, startChild } from "../servers.ts"
import { callAll } from "./calls.ts"

const rounds = countRounds(5)
const seconds = limitSeconds(5)
/** More than a round requests, so that none is repeated. */
const idsPerRound = 150_000

const toPath = (fdcId: number) => `/v1/branded-foods/${brandedFoodId(fdcId)}`

const randomPaths = (ids: Int32Array, round: number) => {
  const chance = new Chance().start(1, 1, round)
  return Array.from({ length: idsPerRound }, () => toPath(ids[chance.below(ids.length)] ?? 0))
}

/** The path of a random food whose response is close to the mean size. */
const findTypicalPath = async (api: string, key: string, ids: Int32Array) => {
  const paths = randomPaths(ids, -1).slice(0, 500)
  const responses = await callAll({ api, key, connections: 1 }, paths, async (path, get) => ({
    path,
    length: (await get(path)).body.length
  }))
  const mean = responses.reduce((sum, { length }) => sum + length, 0) / responses.length
  const [nearest] = responses.toSorted((a, b) => Math.abs(a.length - mean) - Math.abs(b.length - mean))
  return nearest?.path ?? ""
}

export const measureRecords = async (server: Server, key: string, database: string, ids: Int32Array) => {
  const response = await fetchResponse(server.api + (await findTypicalPath(server.api, key, ids)), key)
  const bare = await startChild("bare.ts", JSON.stringify(response))
  const query = await startChild("foods/one-query.ts", database)
  try {
    const servers = { bare: bare.api, query: query.api, charged: server.api }
    const measured: Record<keyof typeof servers, Array<Measured>> = { bare: [], query: [], charged: [] }
    const names = ["bare", "query", "charged"] as const
    for (const name of names)
      await load({ url: servers[name], paths: randomPaths(ids, -2), key, seconds: limitSeconds(2) }) // warm up
    for (let round = 0; round < rounds; round++) {
      const paths = randomPaths(ids, round)
      for (const name of names) measured[name].push(await load({ url: servers[name], paths, key, seconds }))
    }
    const rows = {
      bare: combineRounds(measured.bare),
      query: combineRounds(measured.query),
      charged: combineRounds(measured.charged)
    }
    const failed = names.filter((name) => rows[name].failed > 0)
    if (failed.length > 0) throw new Error(`calls failed: ${failed.join(", ")}`)
    const rate = (name: keyof typeof servers) => rows[name].requests_per_second
    console.log(
      `One food by id, random over ${ids.length} labels, 64 connections, ${response.body.length} characters on average`
    )
    console.table({
      "bare h3, one response of the mean size, same headers": rows.bare,
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

/** Measures foods by random id, compared with bare h3 and with one DuckDB query per request. */
import { brandedFoodId } from "@larder/schemas"
import { Chance } from "../../samples/branded-foods/chance.ts"
import { type Both, describeBoth } from "../against.ts"
import type { Measured } from "../load.ts"
import { describeBare, type LoadedServer, loadBesideBare } from "../load-in-turns.ts"
import { startChild } from "../servers.ts"
import { describeRange, describeRounds, findRatios } from "../turns.ts"
import { callAll } from "./calls.ts"

/** More than a round requests, so that none is repeated. */
const idsPerRound = 150_000

const toPath = (fdcId: number) => `/v1/branded-foods/${brandedFoodId(fdcId)}`

const randomPaths = (ids: Int32Array, round: number) => {
  const chance = new Chance().start(1, 1, round)
  return Array.from({ length: idsPerRound }, () => toPath(ids[chance.below(ids.length)] ?? 0))
}

/** The path of a random food whose response is close to the mean size. */
const findTypicalPath = async ({ api, key }: LoadedServer, ids: Int32Array) => {
  const paths = randomPaths(ids, -2).slice(0, 500)
  const responses = await callAll({ api, key, connections: 1 }, paths, async (path, get) => ({
    path,
    length: (await get(path)).body.length
  }))
  const mean = responses.reduce((sum, { length }) => sum + length, 0) / responses.length
  const [nearest] = responses.toSorted((a, b) => Math.abs(a.length - mean) - Math.abs(b.length - mean))
  return nearest?.path ?? ""
}

const choosePaths = (ids: Int32Array) => (round: number) => randomPaths(ids, round)

const printHeading = (ids: Int32Array, bytes: number) =>
  console.log(
    `\nOne food by id, random over ${ids.length} labels, 64 connections, ${bytes} bytes of a typical response`
  )

export const measureRecords = async (folder: string, server: LoadedServer, database: string, ids: Int32Array) => {
  const query = { ...(await startChild("foods/one-query.ts", database)), key: server.key }
  try {
    const typical = { server, path: await findTypicalPath(server, ids) }
    const measured = await loadBesideBare(folder, { query, charged: server }, typical, choosePaths(ids))
    printHeading(ids, measured.bytes)
    console.table({
      ...describeBare(measured),
      "one DuckDB query per request, free of charge": describeRounds(measured.query),
      "larder-serve, charged and durable": describeRounds(measured.charged)
    })
    const describeShare = (bases: ReadonlyArray<Measured>) => ({
      measured: describeRange(findRatios(measured.charged, bases, "requests_per_second"))
    })
    console.table({
      "B2 charged ÷ bare h3 (≥ 0.25)": describeShare(measured.bare),
      "B2 charged ÷ bare h3, its fastest response": describeShare(measured.fastest),
      "B2 charged ÷ one query per request (≥ 8)": describeShare(measured.query)
    })
  } finally {
    query.stop()
  }
}

export const compareRecords = async (folder: string, servers: Both<LoadedServer>, ids: Int32Array) => {
  const typical = { server: servers.this, path: await findTypicalPath(servers.this, ids) }
  const measured = await loadBesideBare(folder, servers, typical, choosePaths(ids))
  printHeading(ids, measured.bytes)
  console.table({ ...describeBare(measured), ...describeBoth(measured) })
}

/** Measures charged searches over HTTP. Each runs once, on a server that has just started, so that no cache helps. */
import { startServer } from "../../support/programs.ts"
import { describeSpread, median, roundTo } from "../statistics.ts"
import { callAll } from "./calls.ts"
import { measureScans, type Scan } from "./scans.ts"
import type { AllTexts, Search } from "./searches.ts"
import { columns } from "./texts.ts"
import type { Warehouse } from "./warehouse.ts"

/** Maximum number of pages that are measured after the first. */
const maxLaterPages = 2

/** Milliseconds of the first page and of later pages. */
interface SearchTimes {
  readonly group: string
  readonly first: number
  readonly later: ReadonlyArray<number>
}

export const buildSearchPath = (query: Readonly<Record<string, string>>) =>
  `/v1/branded-foods?${new URLSearchParams(query)}`
/** Does not parse the 50 records, which would delay the other connections. */
const findCursor = (body: string) => /"next_cursor":"([^"]+)"\}$/.exec(body.slice(-300))?.[1]

const measureTimes = async (home: string, key: string, connections: number, searches: ReadonlyArray<Search>) => {
  const server = await startServer(home)
  try {
    return await callAll({ api: server.api, key, connections }, searches, async ({ group, query }, get) => {
      const first = await get(buildSearchPath(query))
      const later: Array<number> = []
      let cursor = findCursor(first.body)
      while (cursor !== undefined && later.length < maxLaterPages) {
        const page = await get(buildSearchPath({ ...query, cursor }))
        later.push(page.milliseconds)
        cursor = findCursor(page.body)
      }
      return { group, first: first.milliseconds, later } satisfies SearchTimes
    })
  } finally {
    await server.stop()
  }
}

const toRow = (single: ReadonlyArray<SearchTimes>, concurrent: ReadonlyArray<SearchTimes>) => {
  const first = describeSpread(single.map((times) => times.first))
  const later = single.flatMap((times) => times.later)
  const laterSpread = describeSpread(later)
  const busy = describeSpread(concurrent.map((times) => times.first))
  return {
    searches: single.length,
    "p50, ms": first.p50_ms,
    "p99, ms": first.p99_ms,
    ...(later.length > 0 && { "later pages, p50": laterSpread.p50_ms, "later, p99": laterSpread.p99_ms }),
    "8 at once, p50": busy.p50_ms,
    "8, p99": busy.p99_ms
  }
}

export const measureSearches = async (home: string, key: string, searches: ReadonlyArray<Search>) => {
  const single = await measureTimes(home, key, 1, searches)
  const concurrent = await measureTimes(home, key, 8, searches)
  const groups = [...new Set(single.map(({ group }) => group))].sort()
  const isInGroup = (group: string) => (times: SearchTimes) => times.group === group
  console.table({
    ...Object.fromEntries(
      groups.map((group) => [group, toRow(single.filter(isInGroup(group)), concurrent.filter(isInGroup(group)))])
    ),
    "ALL, MIXED": toRow(single, concurrent)
  })
  const all = describeSpread(single.flatMap(({ first, later }) => [first, ...later]))
  console.table({
    "B3 p50, ms (≤ 5)": { measured: all.p50_ms },
    "B3 p99, ms (≤ 25)": { measured: all.p99_ms }
  })
}

/** Fails if the search and the scan found different foods. */
const compareFound = (text: string, scan: Scan | undefined, body: string) => {
  const { data } = JSON.parse(body) as { readonly data: ReadonlyArray<{ readonly fdc_id: number }> }
  const found = data.map(({ fdc_id }) => fdc_id).join()
  const expected = scan?.ids.join()
  if (found !== expected) throw new Error(`the search for ${text} found ${found} where ILIKE finds ${expected}`)
}

/** Compares the search with DuckDB's ILIKE on rare texts, for which an index helps most. */
export const compareWithScan = async (warehouse: Warehouse, home: string, key: string, texts: AllTexts) => {
  const server = await startServer(home)
  try {
    const rows: Record<string, unknown> = {}
    for (const filter of ["name", "ingredient"] as const) {
      const rare = texts[filter].rare.slice(0, 20)
      const scans = await measureScans(warehouse, columns[filter], rare)
      const searches = await callAll(
        { api: server.api, key, connections: 1 },
        [...rare.entries()],
        async ([i, text], get) => {
          const { body, milliseconds } = await get(buildSearchPath({ [filter]: text }))
          compareFound(text, scans[i], body)
          return milliseconds
        }
      )
      const [scan, search] = [median(scans.map(({ milliseconds }) => milliseconds)), median(searches)]
      rows[`B3 rare, by ${filter}: ILIKE ÷ search (≥ 20)`] = {
        "ILIKE, ms": roundTo(scan),
        "search, ms": roundTo(search, 2),
        ratio: roundTo(scan / search)
      }
    }
    console.table(rows)
  } finally {
    await server.stop()
  }
}

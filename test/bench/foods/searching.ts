/** Searches over HTTP, charged: every text is asked for once by a server that has just started, so no cache helps. */
import { startServer } from "../../support/programs.ts"
import { median, rounded, spreadOf } from "../statistics.ts"
import { askAll } from "./ask.ts"
import type { AllTexts, Question } from "./questions.ts"
import { type Scan, scansOf } from "./scans.ts"
import { columns } from "./texts.ts"
import type { Warehouse } from "./warehouse.ts"

/** The pages after the first that are measured where there are as many. */
const laterPages = 2

interface Asked {
  readonly group: string
  readonly first: number
  readonly later: ReadonlyArray<number>
}

const target = (query: Readonly<Record<string, string>>) => `/v1/branded-foods?${new URLSearchParams(query)}`
/** Without parsing 50 records, which would hold up the other connections. */
const cursorOf = (body: string) => /"next_cursor":"([^"]+)"\}$/.exec(body.slice(-300))?.[1]

const askGroups = async (home: string, key: string, connections: number, questions: ReadonlyArray<Question>) => {
  const server = await startServer(home)
  try {
    return await askAll({ api: server.api, key, connections }, questions, async ({ group, query }, get) => {
      const first = await get(target(query))
      const later: Array<number> = []
      let cursor = cursorOf(first.body)
      while (cursor !== undefined && later.length < laterPages) {
        const page = await get(target({ ...query, cursor }))
        later.push(page.milliseconds)
        cursor = cursorOf(page.body)
      }
      return { group, first: first.milliseconds, later } satisfies Asked
    })
  } finally {
    await server.stop()
  }
}

const rowOf = (one: ReadonlyArray<Asked>, eight: ReadonlyArray<Asked>) => {
  const first = spreadOf(one.map((asked) => asked.first))
  const later = one.flatMap((asked) => asked.later)
  const more = spreadOf(later)
  const busy = spreadOf(eight.map((asked) => asked.first))
  return {
    searches: one.length,
    "p50, ms": first.p50_ms,
    "p99, ms": first.p99_ms,
    ...(later.length > 0 && { "later pages, p50": more.p50_ms, "later, p99": more.p99_ms }),
    "8 at once, p50": busy.p50_ms,
    "8, p99": busy.p99_ms
  }
}

export const measureSearches = async (home: string, key: string, questions: ReadonlyArray<Question>) => {
  const one = await askGroups(home, key, 1, questions)
  const eight = await askGroups(home, key, 8, questions)
  const groups = [...new Set(one.map(({ group }) => group))].sort()
  const of = (group: string) => (asked: Asked) => asked.group === group
  console.table({
    ...Object.fromEntries(groups.map((group) => [group, rowOf(one.filter(of(group)), eight.filter(of(group)))])),
    "ALL, MIXED": rowOf(one, eight)
  })
  const all = spreadOf(one.flatMap(({ first, later }) => [first, ...later]))
  console.table({
    "B3 p50, ms (≤ 5)": { measured: all.p50_ms },
    "B3 p99, ms (≤ 25)": { measured: all.p99_ms }
  })
}

/** That both found the same foods: a fast wrong answer is worth nothing. */
const compareFound = (text: string, scan: Scan | undefined, body: string) => {
  const { data } = JSON.parse(body) as { readonly data: ReadonlyArray<{ readonly fdc_id: number }> }
  const found = data.map(({ fdc_id }) => fdc_id).join()
  const expected = scan?.ids.join()
  if (found !== expected) throw new Error(`the search for ${text} found ${found} where ILIKE finds ${expected}`)
}

/** How many times as long DuckDB's ILIKE takes on the rare texts, which an index helps most. */
export const compareWithScan = async (warehouse: Warehouse, home: string, key: string, texts: AllTexts) => {
  const server = await startServer(home)
  try {
    const rows: Record<string, unknown> = {}
    for (const filter of ["name", "ingredient"] as const) {
      const rare = texts[filter].rare.slice(0, 20)
      const scans = await scansOf(warehouse, columns[filter], rare)
      const asked = await askAll(
        { api: server.api, key, connections: 1 },
        [...rare.entries()],
        async ([i, text], get) => {
          const { body, milliseconds } = await get(target({ [filter]: text }))
          compareFound(text, scans[i], body)
          return milliseconds
        }
      )
      const [scan, search] = [median(scans.map(({ milliseconds }) => milliseconds)), median(asked)]
      rows[`B3 rare, by ${filter}: ILIKE ÷ search (≥ 20)`] = {
        "ILIKE, ms": rounded(scan),
        "search, ms": rounded(search, 2),
        ratio: rounded(scan / search)
      }
    }
    console.table(rows)
  } finally {
    await server.stop()
  }
}

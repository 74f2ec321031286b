/**
 * Faults of the responses of the two services: each fault in a report of My Market News and in a section of Datamart. Faults
 * of one run are in different feeds, and all other feeds of the catalog are intact.
 */
import type { ServerResponse } from "node:http"
import { catalog } from "@larder/pipelines/commodities/catalog.ts"
import { bodyOf, everyFeed, feedNamed, n, type Row, sectionsBody } from "./commodity-payloads.ts"
import { feedAt } from "./live-commodities.ts"

const { feeds } = catalog()

export interface Fault {
  /** As in `docs/ingesting.md`. */
  readonly fault: string
  /** Feeds with the fault. */
  readonly feeds: ReadonlyArray<string>
  /** Makes the faulty payload from the rows of the intact one. */
  readonly body?: (feed: string, rows: ReadonlyArray<Row>) => string | Buffer
  /** Sends a faulty response instead of the intact body. */
  readonly respond?: (response: ServerResponse, body: string) => void
  /** The server never responds. */
  readonly isSilent?: true
}

/** The faults of one run, and the fault of its machine. */
export interface FaultyRun {
  readonly faults: ReadonlyArray<Fault>
  readonly machine?: "distrusts the last feeds" | "is a day ahead" | "is a day behind" | "has no key"
}

const names = feeds.map(({ feed }) => feed)
const marsFeeds = names.filter((feed) => feed.startsWith("gov-mars/"))
const [butter, block, barrel, dryWhey, powder] = names.filter((feed) => /2993\/(?!Final)/.test(feed))
const classes = "gov-mpr/2991/Detail"
const months = "gov-mars/1623"
const pair = (report: number, section: string | undefined) => [`gov-mars/${report}`, section ?? ""]

/** Columns that metrics are read from. */
const pricesIn = (feed: string, row: Row) =>
  feedNamed(feed).metrics.flatMap(({ column }) =>
    Object.keys(row).filter((field) => field === column.name || /^(weekly|monthly) Av$/.test(field))
  )
const priceIn = (feed: string, row: Row) => pricesIn(feed, row)[0] ?? ""
/** The column with the day of a price. */
const dayIn = (feed: string) => {
  const { period } = feedNamed(feed)
  if (period.kind === "friday") return period.fields[0]
  return period.kind === "day" ? period.field : period.month
}

/** Feeds with six weeks of rows: with fewer, an empty column is not a fault. */
const feedsOfSixWeeks = ["gov-mars/1044", "gov-mpr/2993/Final Butter Prices and Sales"]
const weeks = ["08/29/2026", "08/22/2026", "08/15/2026", "08/08/2026", "08/01/2026", "07/25/2026"]
const rowsOfWeeks = (feed: string, rows: ReadonlyArray<Row>) =>
  feedsOfSixWeeks.includes(feed) ? weeks.flatMap((day) => rows.map((row) => ({ ...row, [dayIn(feed)]: day }))) : rows

const without = (row: Row, field: string): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => name !== field))
const payload = (change: (row: Row, feed: string) => Row) => (feed: string, rows: ReadonlyArray<Row>) =>
  bodyOf(
    feedNamed(feed),
    rows.map((row) => change(row, feed))
  )

const sendJson = (response: ServerResponse, body: string | Buffer) => {
  response.writeHead(200, { "content-type": "application/json" })
  response.end(body)
}

const breakOff = (response: ServerResponse, body: string) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length })
  response.write(body.slice(0, body.length / 2), () => response.socket?.resetAndDestroy())
}

const changedPayloads: ReadonlyArray<Fault> = [
  {
    fault: "a column renamed",
    feeds: pair(1034, butter),
    body: payload((row, feed) => {
      const price = priceIn(feed, row)
      return { ...without(row, price), [`${price}_new`]: row[price] }
    })
  },
  {
    fault: "a column missing",
    feeds: pair(1035, block),
    body: payload((row, feed) => without(row, priceIn(feed, row)))
  },
  {
    fault: "a column of prices retyped",
    feeds: pair(1036, barrel),
    body: payload((row, feed) => ({ ...row, [priceIn(feed, row)]: { amount: row[priceIn(feed, row)] } }))
  },
  {
    fault: "a column of dates retyped",
    feeds: pair(1038, dryWhey),
    body: payload((row, feed) => ({ ...row, [dayIn(feed)]: 20_260_829 }))
  },
  {
    fault: "another report's payload",
    feeds: pair(1046, powder),
    body: payload((row) => ({ ...row, slug_id: row.slug_id === 1046 ? 1047 : "2994" }))
  },
  {
    fault: "two prices for one day and publication",
    feeds: pair(1053, classes),
    body: (feed, rows) =>
      bodyOf(feedNamed(feed), [...rows, ...rows.map((row) => ({ ...row, [priceIn(feed, row)]: "9" }))])
  }
]

/** Adds a row to each that a feed has. */
const withRows =
  (...changes: ReadonlyArray<(row: Row, feed: string) => Row>) =>
  (feed: string, rows: ReadonlyArray<Row>) =>
    bodyOf(feedNamed(feed), [...rows, ...changes.flatMap((change) => rows.map((row) => change(row, feed)))])

const older = { published_date: "09/17/2026 13:00:00" }

/** Feeds with these faults are left out in part: their other rows are published. */
const partlyBadPayloads: ReadonlyArray<Fault> = [
  {
    fault: "a row dated far in the future",
    feeds: pair(1035, block),
    body: withRows((row, feed) => ({ ...row, [dayIn(feed)]: "11/30/2027" }))
  },
  {
    fault: "a row of other goods",
    feeds: ["gov-mars/1046"],
    body: withRows((row) => ({ ...row, quality: "Non-Edible" }))
  },
  {
    fault: "a row with another freight",
    feeds: ["gov-mars/1043"],
    body: withRows((row) => ({ ...row, freight: "F.O.B. Plant" }))
  },
  {
    fault: "a label of another spelling",
    feeds: ["gov-mars/1049"],
    body: payload((row) => (row.lot_Desc === "High Heat" ? { ...row, lot_Desc: "Hi-Heat" } : row))
  },
  {
    fault: "more than 2 % of the rows rejected",
    feeds: pair(1050, barrel),
    body: withRows(
      (row, feed) => ({ ...row, ...older, [dayIn(feed)]: "09/07/2026", [priceIn(feed, row)]: "€ 1.50" }),
      (row, feed) => ({ ...row, ...older, [dayIn(feed)]: "09/14/2026", [priceIn(feed, row)]: "€ 1.51" })
    )
  }
]

const otherPayloads: ReadonlyArray<Fault> = [
  {
    fault: "another region's rows",
    feeds: ["gov-mars/1047"],
    body: payload((row) => ({ ...row, region: "West" }))
  },
  {
    fault: "another section",
    feeds: [months, block ?? ""],
    body: (feed, rows) =>
      feed === months
        ? sectionsBody({ "Dry Products Monthly Averages": rows })
        : bodyOf(feedNamed(feed.replace("2993/", "2993/Final ")), rows)
  },
  { fault: "an empty payload", feeds: pair(1039, butter), body: () => "" },
  { fault: "a payload of `null`", feeds: pair(1041, barrel), body: () => "null" },
  { fault: "an HTML page", feeds: pair(1042, dryWhey), body: () => "<!doctype html><title>Sign in</title>" },
  {
    fault: "fewer rows than it states",
    feeds: pair(1043, powder),
    body: (feed, rows) => bodyOf(feedNamed(feed), rows, { returnedRows: 7, "returnedRows:": 7 })
  }
]

const damagedPayloads = (random: () => number): ReadonlyArray<Fault> => [
  {
    fault: "truncated at any byte",
    feeds: [
      ...[1034, 1035, 1036, 1038, 1046].map((report) => `gov-mars/${report}`),
      ...names.filter((feed) => feed.includes("/Final "))
    ],
    body: (feed, rows) => {
      const body = bodyOf(feedNamed(feed), rows)
      return body.slice(0, 1 + Math.floor(random() * (body.length - 1)))
    }
  },
  {
    fault: "invalid UTF-8",
    feeds: pair(1047, butter),
    body: (feed, rows) => {
      const mark = "in another encoding"
      const text = bodyOf(
        feedNamed(feed),
        rows.map((row) => ({ ...row, category: mark }))
      )
      const [before = "", ...after] = text.split(mark)
      return Buffer.concat([Buffer.from(`${before}Caf`), Buffer.from([0xe9]), Buffer.from(after.join(mark))])
    }
  }
]

const emptiedPayloads: ReadonlyArray<Fault> = [
  { fault: "no row, and no statement about it", feeds: pair(1043, butter), body: () => '{"results":[]}' },
  {
    fault: "a column of prices emptied",
    feeds: feedsOfSixWeeks,
    body: payload((row, feed) => ({ ...row, [priceIn(feed, row)]: null }))
  },
  {
    fault: "the columns that name the report missing",
    feeds: pair(1048, block),
    body: payload((row) => ["slug_id", "slug_name", "report_title", "region"].reduce(without, row))
  }
]

const brokenConnections: ReadonlyArray<Fault> = [
  { fault: "HTTP 429", feeds: pair(1034, butter), respond: (response) => void response.writeHead(429).end() },
  { fault: "HTTP 500", feeds: pair(1036, block), respond: (response) => void response.writeHead(500).end() },
  { fault: "no response", feeds: pair(1041, barrel), respond: () => {}, isSilent: true },
  { fault: "a connection that breaks in the middle", feeds: pair(1043, dryWhey), respond: breakOff },
  { fault: "a certificate that is not trusted", feeds: ["gov-mars/1099", "gov-mpr/2989/Detail"] } // the last of each
]

/** Faults of payloads, each of which a read of its feed alone shows. `random` determines where payloads are truncated. */
export const payloadFaults = (random: () => number): ReadonlyArray<Fault> => [
  ...changedPayloads,
  ...partlyBadPayloads,
  ...otherPayloads,
  ...emptiedPayloads,
  ...damagedPayloads(random)
]

/** One of each kind; their feeds differ. */
const kinds = [
  "a column missing",
  "a column of prices retyped",
  "another report's payload",
  "a label of another spelling",
  "an empty payload",
  "an HTML page"
]
const oneOfEachKind = [...changedPayloads, ...partlyBadPayloads, ...otherPayloads].filter(({ fault }) =>
  kinds.includes(fault)
)

/** In the first and the last run, nothing is left out. */
export const faultyRuns = (random: () => number): ReadonlyArray<FaultyRun> => [
  {
    faults: [
      { fault: "a column added", feeds: pair(1034, butter), body: payload((row) => ({ ...row, moisture: "38 %" })) },
      {
        fault: "an older row under an unknown name",
        feeds: ["gov-mars/1047"],
        body: withRows((row) => ({ ...row, ...older, report_begin_date: "09/07/2026", region: "Southeast" }))
      },
      { fault: "a clock that is a day ahead", feeds: [] }
    ],
    machine: "is a day ahead"
  },
  { faults: oneOfEachKind },
  { faults: damagedPayloads(random) },
  { faults: brokenConnections, machine: "distrusts the last feeds" },
  { faults: [{ fault: "no key for My Market News", feeds: marsFeeds }], machine: "has no key" },
  {
    faults: [
      {
        fault: "a fault in more than a third of the feeds",
        feeds: names.filter((_, place) => place % 3 === 0 || place === 1),
        body: () => "<html>"
      }
    ]
  },
  { faults: [{ fault: "a clock that is a day behind", feeds: [] }], machine: "is a day behind" }
]

const rowsIn = (body: string): ReadonlyArray<Row> => [JSON.parse(body)].flat()[0].results

/** The payload of a feed with this fault, and the intact one before it. */
export const payloadsOf = ({ body }: Fault, feed: string) => {
  const [before, rows] = [makeEdition(1)[feed] ?? [], makeEdition(2)[feed] ?? []]
  return { intact: bodyOf(feedNamed(feed), before), faulty: Buffer.from(body?.(feed, rows) ?? "") }
}

/** Makes the rows of every feed without faults: prices rise with each edition, which is published a minute after the last. */
const makeEdition = (number: number): Readonly<Record<string, ReadonlyArray<Row>>> => {
  const at = `10/01/2026 13:${String(number).padStart(2, "0")}:00`
  const price = n(`1.${5000 + number * 25}`)
  return Object.fromEntries(
    Object.entries(everyFeed()).map(([feed, body]) => [
      feed,
      rowsOfWeeks(feed, rowsIn(body)).map((row) => ({
        ...row,
        published_date: at,
        ...(feed === "gov-mpr/2989/Detail" ? { report_month: "Nov" } : {}), // the month after its publication
        ...Object.fromEntries(pricesIn(feed, row).map((column) => [column, price]))
      }))
    ])
  )
}

/** Feeds that are intact unless their whole service has a fault, and change in each run. */
export const controlFeeds = ["gov-mars/1603", "gov-mpr/2989/Detail"]

/**
 * Serves this edition for the control feeds and those with a fault, and the first edition for the others, because known
 * payloads are quick to read. If no feed has a fault, serves this edition for all.
 */
export const serveEdition = (faults: ReadonlyArray<Fault>, number: number) => {
  const [first, current] = [makeEdition(1), makeEdition(number)]
  const faulty = faults.flatMap(({ feeds }) => feeds)
  const isNew = (feed: string) => faulty.length === 0 || faulty.includes(feed) || controlFeeds.includes(feed)
  const rows = Object.fromEntries(names.map((feed) => [feed, (isNew(feed) ? current : first)[feed] ?? []]))
  return (response: ServerResponse, _n: number, { url }: { readonly url: string }) => {
    const feed = feedAt(url)
    const body = bodyOf(feedNamed(feed), rows[feed] ?? [])
    const fault = faults.find(({ feeds }) => feeds.includes(feed))
    if (fault?.respond !== undefined) return fault.respond(response, body)
    sendJson(response, fault?.body?.(feed, rows[feed] ?? []) ?? body)
  }
}

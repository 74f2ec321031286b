/** The rows of a payload: where each is, what it states, and when it was published. */
import { addDays } from "@larder/schemas"
import type { Feed } from "../catalog.ts"
import { isRow, listFields, type Payload, type PayloadRow } from "../decode/payload.ts"
import { makeSpeller } from "../decode/spellings.ts"
import { type DateFault, estimateReportDay, makePublicationReader, type Publication } from "./dates.ts"

export interface ReportRow {
  /** In the payload, from 1. */
  readonly position: number
  /** As it is in the payload. */
  readonly stated: unknown
  /** Its fields, spelled as in most rows. */
  readonly cells: PayloadRow
  /** Undefined if the row states no day of its report. */
  readonly publication: Publication | DateFault | undefined
}

/** An entry of the payload; without cells if it is not a JSON object. */
export type Entry = ReportRow | (Pick<ReportRow, "position" | "stated"> & { readonly cells: undefined })

/** Throws `DriftFound` if no time of publication can be read. */
export const listEntries = (feed: Feed, payload: Payload) => {
  const exact = new Set(feed.period.kind === "day" && feed.period.isExact ? [feed.period.field] : [])
  const objects = payload.rows.filter(isRow)
  const spell = makeSpeller(objects, exact)
  const spelled = payload.rows.map((stated, index) => {
    return { position: index + 1, stated, cells: isRow(stated) ? spell(stated) : undefined }
  })
  const cells = spelled.flatMap((row) => (row.cells === undefined ? [] : [row.cells]))
  const fields = listFields(cells)
  const readPublication = makePublicationReader(feed.period, fields, cells)
  const entries = spelled.map(({ cells, position, stated }): Entry => {
    if (cells === undefined) return { position, stated, cells }
    return { position, stated, cells, publication: readPublication(cells) }
  })
  return { fields, entries }
}

export const isReportRow = (entry: Entry): entry is ReportRow => entry.cells !== undefined

export const isFault = (publication: Publication | DateFault | undefined): publication is DateFault =>
  publication !== undefined && "fault" in publication

/** Undefined if the time of publication is not stated, or cannot be read. */
export const publishedAt = ({ publication }: ReportRow) => (isFault(publication) ? undefined : publication?.timestamp)

/** A day that a row states in another way may be some days before the publication. */
const estimateDays = 7

interface KnownDays {
  /** The day of the fetch: no report is published after it. */
  readonly fetchedOn?: string | undefined
  /** The newest known publication of the report: a window of earlier days does not contain it. */
  readonly newestPublication?: string | undefined
}

/**
 * Returns a test for rows of the newest publication: of its day. A row whose time of publication cannot be read may be of
 * it if it states a day shortly before. A publication after the fetch is a typing error, and never the newest.
 */
export const makeNewestTest = (rows: ReadonlyArray<ReportRow>, { fetchedOn, newestPublication = "" }: KnownDays) => {
  const latest = fetchedOn === undefined ? "9999-12-31" : addDays(fetchedOn, 1) // reports have another time zone
  const newest = rows.reduce(
    (last, row) => {
      const day = publishedAt(row)?.slice(0, 10)
      return day !== undefined && day > last && day <= latest ? day : last
    },
    newestPublication.slice(0, 10)
  )
  const isNewestDay = (timestamp: string) => newest === "" || timestamp.slice(0, 10) === newest
  const isNewestRow = (row: ReportRow) => {
    const timestamp = publishedAt(row)
    if (timestamp !== undefined) return isNewestDay(timestamp)
    const estimate = estimateReportDay(row.cells)
    return newest === "" || (estimate !== undefined && estimate >= addDays(newest, -estimateDays))
  }
  return { isNewestDay, isNewestRow }
}

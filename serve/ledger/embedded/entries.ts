/**
 * The entries of an account or of all, page by page. A page of one account is looked for in a range of numbers, else DuckDB would look at all entries
 * that follow for each of them; the range grows while the account has few entries in it.
 */
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Option, Stream } from "effect"
import { Entry } from "../records.ts"
import { entryColumns } from "./columns.ts"
import type { LedgerDatabase } from "./ledger-database.ts"
import { lastEntry } from "./snapshot.ts"

/** Decoding a page stands in the way of requests for some milliseconds. */
const entriesPerPage = 1_000
const firstWidth = 50_000
const growth = 4

const page = `
  select ${entryColumns}
  from entry
  where account_id = $account_id and sequence > $after and sequence <= $upTo
  order by entry.sequence
  limit ${entriesPerPage}`

/** Numbers have no gaps, so a page is a range of them, and DuckDB looks at no other rows. */
const pageOfAll = `
  select ${entryColumns}
  from entry
  where sequence > $after and sequence <= $upTo
  order by entry.sequence`

interface Range {
  readonly after: number
  readonly width: number
}

const readPage = (db: DuckDb["Service"], account_id: string, last: number, { after, width }: Range) =>
  Effect.map(db.all(Entry, page, { account_id, after, upTo: Math.min(last, after + width) }), (entries) => {
    const full = entries.length < entriesPerPage ? undefined : entries.at(-1)
    const next: Range =
      full === undefined ? { after: after + width, width: width * growth } : { after: full.sequence, width }
    return [entries, next] as const
  })

/** All that are in the database when the reading begins, oldest first. */
export const entriesIn = ({ use }: LedgerDatabase, accountId: string) =>
  Stream.unwrap(
    Effect.map(use(lastEntry), (last) =>
      Stream.paginate({ after: 0, width: firstWidth }, (range: Range) =>
        Effect.map(
          use((db) => readPage(db, accountId, last, range)),
          ([entries, next]) => [entries, next.after < last ? Option.some(next) : Option.none()] as const
        )
      )
    )
  )

/** The same of all accounts, in the order of their numbers. */
export const allEntriesIn = ({ use }: LedgerDatabase) =>
  Stream.unwrap(
    Effect.map(use(lastEntry), (last) =>
      Stream.paginate(0, (after: number) => {
        const upTo = Math.min(last, after + entriesPerPage)
        return Effect.map(
          use((db) => db.all(Entry, pageOfAll, { after, upTo })),
          (entries) => [entries, upTo < last ? Option.some(upTo) : Option.none()] as const
        )
      })
    )
  )

/**
 * Checks the whole ledger in a separate thread while it is being written: every entry against its predecessor, and all
 * derived data against the entries, in one snapshot. Ten million entries take a few minutes, and temporary
 * files for their request ids and charges.
 */
import type { Sqlite } from "../../../persistence/index.ts"
import type { Verification } from "../../administration.ts"
import { type ChainHead, emptyHead } from "../../chain/chain.ts"
import {
  dayOfEntry,
  findProgressProblem,
  indexedUpTo,
  monthOfDateText,
  readLastEntry,
  readProgress,
  unsummedUsage,
  usageSums
} from "../progress.ts"
import { archivedEntries, queryNumber, readTextCell } from "../tables.ts"
import { makeEntryChecks, readEntriesAfter, readOwners, readStarts } from "./entry-checks.ts"

const maxProblems = 100

export interface ServerHeads {
  readonly sequence: number
  readonly heads: ReadonlyMap<string, ChainHead>
}

type Report = (problem: string) => void

/** Runs a query that returns one sentence per problem. */
const runCheck = (sqlite: Sqlite, check: string, report: Report) => {
  for (const row of sqlite.all(`${check} limit ${maxProblems}`)) report(readTextCell(row, "problem"))
}

const describeHead = ({ balance, position }: ChainHead) => `at its entry ${position} with ${balance} credits`

const compareHeads = (serverHeads: ServerHeads["heads"], stored: ReadonlyMap<string, ChainHead>, report: Report) => {
  for (const id of new Set([...serverHeads.keys(), ...stored.keys()])) {
    const server = serverHeads.get(id) ?? emptyHead
    const file = stored.get(id) ?? emptyHead
    if (server.position === file.position && server.balance === file.balance && server.hash === file.hash) {
      continue
    }
    report(`account ${id} is ${describeHead(server)} in the running server, and ${describeHead(file)} in the database`)
  }
}

const makeFollower = (sqlite: Sqlite, server: ServerHeads, report: Report) => {
  const { check, heads, reached } = makeEntryChecks(sqlite, readOwners(sqlite), readStarts(sqlite))
  let isCompared = server.sequence === 0
  return {
    followTo: (upTo: number) => {
      for (const entry of readEntriesAfter(sqlite, reached(), upTo)) {
        for (const problem of check(entry)) report(problem)
        if (entry.sequence !== server.sequence) continue
        compareHeads(server.heads, heads, report)
        isCompared = true
      }
    },
    end: () => {
      if (!isCompared) {
        report(`the database ends at entry ${reached()}, and the running server has written ${server.sequence}`)
      }
      return { entries: reached(), heads }
    }
  }
}

/** SQLite sorts the ids in a temporary file: ten million strings would not fit into memory. */
const repeatedRequests = `
  select case type
      when 'charge' then format('request %s was charged %s times', coalesce(request_id, 'null'), count(*))
      when 'refund' then format('request %s was refunded %s times', request_id, count(*))
      else format('%s %s was booked %s times', type, request_id, count(*))
    end as problem
  from ledger.entry
  where type = 'charge' or request_id is not null
  group by type, request_id
  having count(*) > 1
  order by type, request_id`

/** Sums the charges of all entries in a temporary file, to compare the stored tables with them. */
const createCharged = `
  create temp table charged as
    select account_id, ${dayOfEntry} as day, key_id, endpoint, ${usageSums}, max(budget_credits) as budget
    from ledger.entry
    where key_id is not null
    group by account_id, 2, key_id, endpoint`

const usageTables = {
  usage_of_day: { account_id: "account_id", day: "day", key_id: "key_id", endpoint: "endpoint" },
  usage_of_endpoint: { account_id: "account_id", day: "day", endpoint: "endpoint" },
  usage_of_month: { month: monthOfDateText("day"), account_id: "account_id", key_id: "key_id", endpoint: "endpoint" }
}

const selectDifferences = (table: string, columns: Readonly<Record<string, string>>) => {
  const names = Object.keys(columns)
  const values = Object.entries(columns).map(([name, value]) => `${value} as ${name}`)
  return `
  select format('${table} has %s calls and %s credits for ${names.map(() => "%s").join(" ")}, but its charges are %s and %s',
    sum(stored_calls), sum(stored_credits), ${names.join(", ")}, sum(calls), sum(credits)) as problem
  from (
    select ${names.join(", ")}, calls as stored_calls, credits as stored_credits, 0 as calls, 0 as credits
    from sums.${table}
    union all
    select ${values.join(", ")}, calls, credits, 0, 0 from (${unsummedUsage})
    union all
    select ${values.join(", ")}, 0, 0, calls, credits from charged
  )
  group by ${names.join(", ")}
  having sum(stored_calls) <> sum(calls) or sum(stored_credits) <> sum(credits)
  order by ${names.join(", ")}`
}

/** Exact: when the last call of a month was admitted, every other call was spent or held. A refund only frees credits. */
const overspentMonths = `
  select format('key %s was charged %s credits in %s, but the highest budget of these charges is %s', key_id,
    sum(credits), substr(day, 1, 7), coalesce(max(budget), 0)) as problem
  from charged
  group by key_id, substr(day, 1, 7)
  having sum(credits) > coalesce(max(budget), 0)
  order by key_id, substr(day, 1, 7)`

/** They read the table that `createCharged` creates. */
const usageChecks = [
  ...Object.entries(usageTables).map(([table, columns]) => selectDifferences(table, columns)),
  overspentMonths
]

const misplacedEntries = `
  select format('entry %s of account %s has number %s, and the index has number %s', entry.position, entry.account_id,
    entry.sequence, coalesce(entry_place.sequence, 'none')) as problem
  from ledger.entry
  left join sums.entry_place
    on entry_place.account_id = entry.account_id and entry_place.position = entry.position
  where entry.sequence <= ${indexedUpTo} and entry_place.sequence is not entry.sequence
  order by entry.sequence`

const checkPlaces = (sqlite: Sqlite, last: number, report: Report) => {
  const progress = readProgress(sqlite)
  const mismatch = findProgressProblem(sqlite)
  if (mismatch !== undefined) report(mismatch)
  runCheck(sqlite, misplacedEntries, report)
  const places = queryNumber(sqlite, "select count(*) from sums.entry_place")
  const entries = Math.min(progress, last) - queryNumber(sqlite, `select ${archivedEntries}`)
  if (places > entries) report(`the index has ${places} entries, and the ledger ${entries}`)
}

/** Checks that every page can be read, and that indexes match their tables. */
const findFileProblems = (sqlite: Sqlite): ReadonlyArray<string> => {
  const describe = (problem: unknown) => `the file is damaged: ${problem}`
  try {
    const results = sqlite.all("pragma integrity_check(10)").flatMap((row) => Object.values(row))
    return results.filter((result) => result !== "ok").map(describe)
  } catch (error) {
    return [describe(error instanceof Error ? error.message : error)] // a page that even this check cannot read
  }
}

const clampToSafe = (number: number) => Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, number))

export const verifyFile = (sqlite: Sqlite, server: ServerHeads): Verification => {
  const problems = [...findFileProblems(sqlite)]
  if (problems.length > 0) return { accounts: 0, keys: 0, entries: 0, balance_credits: 0, problems } // no more can be read
  const report: Report = (problem) => {
    if (problems.length < maxProblems) problems.push(problem)
  }
  const countRows = (table: string) => queryNumber(sqlite, `select count(*) from ledger.${table}`)
  const { end, followTo } = makeFollower(sqlite, server, report)
  followTo(readLastEntry(sqlite)) // before the snapshot, because a long snapshot prevents the log from being reset
  return sqlite.inSnapshot(() => {
    readProgress(sqlite) // first, so that the snapshot of the entries is no earlier than that of the derived tables
    followTo(Number.POSITIVE_INFINITY)
    const { entries, heads } = end()
    runCheck(sqlite, repeatedRequests, report)
    sqlite.exec(createCharged)
    for (const check of usageChecks) runCheck(sqlite, check, report)
    checkPlaces(sqlite, entries, report)
    const balance = [...heads.values()].reduce((sum, head) => sum + head.balance, 0)
    return {
      accounts: countRows("account"),
      keys: countRows("api_key"),
      entries: countRows("entry"),
      balance_credits: clampToSafe(balance),
      problems
    }
  })
}

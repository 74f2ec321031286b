/**
 * How a server registers with the database, under a name to which its holds belong, and learns which charges were
 * written. If a group gets no answer, the server joins again under another name: that ends everything still in flight
 * for the old name, and shows which calls were charged. A call that cannot wait that long is answered with an error and
 * noted; if it turns out to be charged, it gets a refund (`in-doubt-refunds.ts`).
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { LedgerUnavailable } from "../../errors.ts"
import { randomText } from "../../random-text.ts"
import { transact } from "../sql/database.ts"
import { texts } from "../sql/parameters.ts"
import { forgetSilentServers } from "../sql/statement-sql.ts"
import type { ServerStatements } from "../sql/statements.ts"
import type { InDoubtFiles } from "./in-doubt-files.ts"

const charged = `
  select request_id from ledger.entry where type = 'charge' and request_id = any ($1::text[])`

export const joinStatements = (sql: PgClient.PgClient, { inTime }: ServerStatements) => ({
  /**
   * Registers a server under a new name, in place of its previous one. Statements in flight for the previous name end
   * first, and can write nothing afterwards, so the answer is final: which of the waiting request ids are charged.
   */
  join: (id: string, previous: string, waiting: ReadonlyArray<string>): Promise<ReadonlySet<string>> =>
    inTime(
      transact(
        sql,
        Effect.gen(function* () {
          // waits while another session locks this table: groups would wait for it, too, so the ledger is not back
          yield* sql.unsafe("select from ledger.account where false for update")
          yield* sql.unsafe(forgetSilentServers)
          yield* sql.unsafe("delete from ledger.server where id = $1", [previous])
          yield* sql.unsafe("insert into ledger.server (id, seen_at) values ($1, clock_timestamp())", [id])
          const rows = yield* sql.unsafe<{ request_id: string }>(charged, [texts(waiting)])
          return new Set(rows.map(({ request_id }) => request_id))
        })
      )
    ),
  leave: (server: string): Promise<void> =>
    inTime(Effect.asVoid(sql.unsafe("delete from ledger.server where id = $1", [server])))
})

export type JoinStatements = ReturnType<typeof joinStatements>

export interface ServerName {
  readonly id: string
}

export interface WaitingCharge {
  readonly requestId: string
  readonly resolve: () => void
  readonly reject: (error: LedgerUnavailable) => void
}

const maxWait = 5_000
const retryInterval = 250

const makeName = (): ServerName => ({ id: randomText(20) })
const notWritten = (cause: string) => new LedgerUnavailable({ action: "be written", cause })

export const joinServers = async (statements: JoinStatements, doubts: InDoubtFiles) => {
  let current = makeName()
  let waiting: Array<WaitingCharge & { readonly since: number }> = []
  let isLast = false

  /** Answers calls that have waited long enough, whether or not they were charged. */
  const rejectWaiting = (isToBeAnswered: (call: { readonly since: number }) => boolean) => {
    const expired = waiting.filter(isToBeAnswered)
    if (expired.length === 0) return
    doubts.add(
      current.id,
      expired.map(({ requestId }) => requestId)
    )
    waiting = waiting.filter((call) => !expired.includes(call))
    const error = notWritten("the database did not answer; if the call was charged, it is refunded")
    for (const { reject } of expired) reject(error)
  }

  const joinAnew = async () => {
    const next = makeName()
    const calls = waiting
    const ids = calls.map(({ requestId }) => requestId)
    const charged = await statements.join(next.id, current.id, ids)
    current = next
    waiting = []
    for (const { reject, requestId, resolve } of calls) {
      if (charged.has(requestId)) resolve()
      else reject(notWritten("nothing was charged"))
    }
  }

  await statements.join(current.id, current.id, [])

  return {
    current: () => current,
    /** True when the server is a member again, false when it stops. `onFailure` receives each attempt's error. */
    rejoin: async (inDoubt: ReadonlyArray<WaitingCharge>, onFailure: (error: unknown) => void): Promise<boolean> => {
      const since = performance.now()
      waiting.push(...inDoubt.map((call) => ({ ...call, since })))
      for (;;) {
        try {
          await joinAnew()
          return true
        } catch (error) {
          onFailure(error)
        }
        try {
          rejectWaiting(({ since }) => isLast || performance.now() - since > maxWait)
        } catch (error) {
          onFailure(error) // these calls could not be noted, so they keep waiting
        }
        if (isLast) return false
        await new Promise((resolve) => setTimeout(resolve, retryInterval))
      }
    },
    stopTrying: () => {
      isLast = true
    },
    leave: () => statements.leave(current.id)
  }
}

export type Membership = Awaited<ReturnType<typeof joinServers>>

/**
 * What a server sends to the database. Charges are one statement, which writes only if the database is in the state that
 * the server expects. A decision is one transaction: it locks accounts in the order of their ids, reads, calls
 * `decideGroup`, and writes.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import type { ChainHead } from "../../chain/chain.ts"
import { Account, ApiKey, type Entry } from "../../chain/records.ts"
import { LedgerUnavailable } from "../../errors.ts"
import {
  booleanArray,
  databaseUnavailable,
  integerArray,
  openGroupConnection,
  type SendStatements,
  type SqlStatement,
  textArray,
  transact,
  wasRolledBack
} from "./database.ts"
import * as statementSql from "./statement-sql.ts"
import { type AccountAfter, bindRows, Holding, listAccountsAfter } from "./write-group.ts"

/** Milliseconds. A statement that takes longer is abandoned, because callers wait for it. */
const statementTimeout = 5_000

/** The name under which a server is registered in the database, and how many of its groups the database has decided. */
interface MemberState {
  readonly id: string
  readonly groups: number
}

interface ChargeGroup {
  readonly entries: ReadonlyArray<Entry>
  /** The heads of the accounts before these entries, by id. */
  readonly before: ReadonlyMap<string, ChainHead>
  readonly holdings: ReadonlyArray<Holding>
}

const AccountRead = Schema.Struct({
  record: Account,
  position: Schema.Int,
  balance: Schema.Int,
  hash: Schema.String,
  leased_by: Schema.NullOr(Schema.String),
  lease_asked: Schema.Boolean,
  used_by: Schema.NullOr(Schema.String),
  /** Whether the server that has leased it is still registered. */
  is_leased: Schema.Boolean,
  /** Milliseconds since another server last used the account. */
  shared_for: Schema.NullOr(Schema.Finite),
  /** Milliseconds since the end of all slices was last requested. */
  recalled_for: Schema.NullOr(Schema.Finite)
})
export type AccountRead = typeof AccountRead.Type

const Read = Schema.Struct({
  accounts: Schema.Array(AccountRead),
  keys: Schema.Array(ApiKey),
  spent: Schema.Array(Schema.Struct({ key_id: Schema.String, month: Schema.Int, credits: Schema.Int })),
  held: Schema.Array(Holding),
  slices: Schema.Array(Schema.Struct({ account_id: Schema.String, server_id: Schema.String, is_asked: Schema.Boolean }))
})
export type GroupRead = typeof Read.Type
const decodeRead = Schema.decodeUnknownEffect(Read)

export interface ReadRequest {
  readonly accounts: ReadonlyArray<string>
  readonly keys: ReadonlyArray<string>
  readonly sha256: ReadonlyArray<string>
  /** Of calls. */
  readonly months: ReadonlyArray<number>
}

export interface LeaseChange {
  readonly head: ChainHead
  readonly leased_by: string | null
  readonly lease_asked: boolean
  readonly used_by: string | null
  readonly is_shared: boolean
  readonly is_recalled: boolean
}

export interface GroupChanges {
  readonly entries: ReadonlyArray<Entry>
  readonly holdings: ReadonlyArray<Holding>
  /** Accounts with entries or a changed lease, by id. */
  readonly leases: ReadonlyMap<string, LeaseChange>
  readonly notifications: ReadonlyArray<string>
  /** Accounts of slices that the server begins or ends. */
  readonly begun: ReadonlyArray<string>
  readonly ended: ReadonlyArray<string>
  /** Accounts of slices that it recalls from other servers. */
  readonly recalled: ReadonlyArray<string>
}

/** Other servers' groups wait for what a group has locked, so it does not wait long for a second account. */
const lockTimeout = (accounts: number) => (accounts > 1 ? "200ms" : "1s")

const bindChanges = ({ entries, holdings, leases }: GroupChanges) => {
  const moved = listAccountsAfter(entries)
  const accounts = [...leases].map(([id, lease]) => ({
    ...lease,
    moved: moved.get(id) ?? { id, ...lease.head, money_out: 0 }
  }))
  return [
    ...bindRows(
      entries,
      accounts.map((account) => account.moved),
      holdings
    ),
    textArray(accounts.map((account) => account.leased_by)),
    booleanArray(accounts.map((account) => account.lease_asked)),
    textArray(accounts.map((account) => account.used_by)),
    booleanArray(accounts.map((account) => account.is_shared)),
    booleanArray(accounts.map((account) => account.is_recalled))
  ]
}

const begin: SqlStatement = { query: "begin" }
const commit: SqlStatement = { query: "commit" }
const rollback: SqlStatement = { query: "rollback" }

/** Returns promises: a group is one promise, and no fiber runs per call. */
export const serverStatements = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const run = Effect.runPromiseWith(yield* Effect.context<never>())
  const runWithDeadline = <A, E>(work: Effect.Effect<A, E>) =>
    withDeadline((signal) => run(Effect.mapError(work, databaseUnavailable("be written")), { signal }))
  const retryPolicy = { times: 5, while: (error: unknown) => wasRolledBack(error) }

  const useConnection = yield* openGroupConnection(sql)
  const readStatement = (member: string, { accounts, keys, months, sha256 }: ReadRequest): SqlStatement => ({
    query: statementSql.read,
    params: [member, textArray(accounts), textArray(keys), textArray(sha256), integerArray(months)]
  })
  const queryRow = <A>(statement: SqlStatement) =>
    useConnection((send) => Effect.map(send([statement]), ([rows]) => rows?.[0] as A | undefined)) // the columns of the statement

  return {
    /**
     * Returns the accounts with a requested lease or slice. `changed`: an account is not in the state that the server
     * expects, and nothing was written.
     */
    charge: (
      { before, entries, holdings }: ChargeGroup,
      { groups, id }: MemberState
    ): Promise<"not a member" | "changed" | ReadonlyArray<string>> => {
      const accounts = [...before.keys()]
      const heads: ReadonlyArray<AccountAfter> = [...listAccountsAfter(entries).values()]
      const expected = textArray([...before.values()].map(({ hash }) => hash))
      const params = [id, groups, textArray(accounts), expected, lockTimeout(accounts.length)]
      const written = queryRow<{ member: boolean; is_unchanged: boolean; requested: ReadonlyArray<string> }>({
        query: statementSql.writeCharges,
        params: [...params, ...bindRows(entries, heads, holdings)]
      })
      return runWithDeadline(
        written.pipe(
          Effect.retry(retryPolicy),
          Effect.map((row) => {
            if (!row?.member) return "not a member" as const
            return row.is_unchanged ? row.requested : ("changed" as const)
          })
        )
      )
    },
    /** `decideGroup` is called again if the database has rolled back. It returns undefined to write nothing. */
    decide: (
      { groups, id }: MemberState,
      request: ReadRequest,
      decideGroup: (read: GroupRead) => GroupChanges | undefined
    ): Promise<"not a member" | "decided"> => {
      const lockStatement = {
        query: statementSql.lock,
        params: [id, groups, textArray(request.accounts), lockTimeout(request.accounts.length)]
      }
      const transaction = Effect.fnUntraced(function* (send: SendStatements) {
        const [, locked, rows] = yield* send([begin, lockStatement, readStatement(id, request)])
        if (!locked?.[0]?.member) {
          yield* send([rollback])
          return "not a member" as const
        }
        const changes = decideGroup(yield* decodeRead(rows?.[0]?.content))
        if (changes === undefined) {
          yield* send([rollback])
          return "decided" as const
        }
        const ids = [changes.notifications, changes.begun, changes.ended, changes.recalled].map(textArray)
        yield* send([{ query: statementSql.writeDecision, params: [id, ...bindChanges(changes), ...ids] }, commit])
        return "decided" as const
      })
      return runWithDeadline(useConnection(transaction).pipe(Effect.retry(retryPolicy)))
    },
    /** Reads keys and their accounts without a lock, so they may have changed since. */
    read: ({ id }: MemberState, request: ReadRequest): Promise<GroupRead> =>
      runWithDeadline(
        Effect.flatMap(queryRow<{ content: unknown }>(readStatement(id, request)), (row) => decodeRead(row?.content))
      ),
    /** Returns the accounts with a requested lease or slice, or undefined if the server is no longer registered. */
    heartbeat: ({ groups, id }: MemberState): Promise<ReadonlyArray<string> | undefined> =>
      runWithDeadline(
        queryRow<{ member: boolean; requested: ReadonlyArray<string> }>({
          query: statementSql.heartbeat,
          params: [id, groups]
        }).pipe(
          Effect.retry(retryPolicy),
          Effect.map((row) => (row?.member ? row.requested : undefined))
        )
      ),
    /**
     * Registers a server under a new name, in place of its previous one. Statements in flight for the previous name end
     * first, and can write nothing afterwards, so the result is final: which of the waiting request ids are charged.
     */
    join: (id: string, previous: string, waiting: ReadonlyArray<string>): Promise<ReadonlySet<string>> =>
      runWithDeadline(
        transact(
          sql,
          Effect.gen(function* () {
            // waits while another session locks this table: groups would wait for it, too, so the ledger is still down
            yield* sql.unsafe("select from ledger.account where false for update")
            yield* sql.unsafe(statementSql.dropSilentServers)
            yield* sql.unsafe("delete from ledger.server where id = $1", [previous])
            yield* sql.unsafe("insert into ledger.server (id, seen_at) values ($1, clock_timestamp())", [id])
            const rows = yield* sql.unsafe<{ request_id: string }>(
              "select request_id from ledger.entry where type = 'charge' and request_id = any ($1::text[])",
              [textArray(waiting)]
            )
            return new Set(rows.map(({ request_id }) => request_id))
          })
        )
      ),
    leave: (server: string): Promise<void> =>
      runWithDeadline(Effect.asVoid(sql.unsafe("delete from ledger.server where id = $1", [server])))
  }
})

export type ServerStatements = Effect.Success<ReturnType<typeof serverStatements>>

/**
 * Abandons work that takes too long: a lost connection may not be detected for minutes. The statement may still
 * complete; a server that joins again waits for it, through the row of its old name.
 */
const withDeadline = <A>(work: (signal: AbortSignal) => Promise<A>): Promise<A> => {
  const { promise, reject, resolve } = Promise.withResolvers<A>()
  const controller = new AbortController()
  const timer = setTimeout(() => {
    const cause = `no response within ${statementTimeout / 1_000} seconds`
    reject(new LedgerUnavailable({ action: "be written", cause }))
    controller.abort()
  }, statementTimeout)
  work(controller.signal)
    .then(resolve, reject)
    .finally(() => clearTimeout(timer))
  return promise
}

/** A ledger in PostgreSQL, with one server or several that share it, each behind a connection that can be cut. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { PgClient } from "@effect/sql-pg"
import { administerPostgres, connect, type LedgerAccess, openPostgresLedger } from "@larder/serve/ledger"
import { newApiKey } from "@larder/serve/ledger/api-key.ts"
import { Clock, Context, Effect, Exit, Layer, Logger, Redacted, Scope, Stream } from "effect"
import { type FaultyProxy, startFaultyProxy } from "../faulty-proxy.ts"
import type { LedgerKind, Subject } from "./subject.ts"
import { clockAt } from "./world.ts"

interface Member {
  readonly proxy: FaultyProxy
  readonly scope: Scope.Closeable
  readonly ledger: LedgerAccess
}

const waitUntil = async (isDone: () => boolean | Promise<boolean>) => {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 5))
}
const waitTurns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Outages are part of these histories, so their log messages are discarded. */
const quiet = Logger.layer([])

/**
 * In an outage, time passes 25 times as fast for the server, so that a call is refused after 0.2 seconds instead of five.
 * Otherwise it passes slowly, so that no call of a burst is refused after five seconds on a busy machine.
 */
const clockOf = (proxy: FaultyProxy): Clock.Clock => {
  const clock = clockAt(Date.now)
  let [time, readAt] = [0n, clock.monotonicTimeNanosUnsafe()]
  const monotonicTimeNanosUnsafe = () => {
    const now = clock.monotonicTimeNanosUnsafe()
    const passed = now - readAt
    time += proxy.isCut() ? passed * 25n : passed / 10n
    readAt = now
    return time
  }
  return { ...clock, monotonicTimeNanosUnsafe, monotonicTimeNanos: Effect.sync(monotonicTimeNanosUnsafe) }
}

const idleTimeout = "set_config('idle_in_transaction_session_timeout', '1s'"

/**
 * Lets a session be idle in a transaction for nine seconds instead of one: while a busy machine stalls a server for longer,
 * PostgreSQL would end its session, twice in a row would refuse a call, and the model does not expect refusals.
 */
const lengthenIdleTimeout = (bytes: Buffer) => {
  const at = bytes.indexOf(idleTimeout)
  if (at >= 0) bytes.write("9", at + idleTimeout.indexOf("1s"))
  return bytes
}

const open = async (url: string, servers: number): Promise<Subject> => {
  const doubts = mkdtempSync(path.join(tmpdir(), "larder-doubts-"))
  const watching = Scope.makeUnsafe()
  const { administration, sql } = await Effect.gen(function* () {
    const administration = administerPostgres(yield* connect(Redacted.make(url)))
    const built = yield* Layer.build(PgClient.layer({ url: Redacted.make(url) }))
    return { administration, sql: Context.get(built, PgClient.PgClient) }
  }).pipe(Scope.provide(watching), Effect.runPromise)
  const rows = <A extends object>(statement: string) => Effect.runPromise(sql.unsafe<A>(statement))

  const members: Array<Member> = []
  const join = async (): Promise<Member> => {
    const proxy = await startFaultyProxy(url, lengthenIdleTimeout)
    const scope = Scope.makeUnsafe()
    // a separate folder: a server that only seems dead may still write here, unlike a killed process
    const directory = mkdtempSync(path.join(doubts, "server-"))
    const ledger = await openPostgresLedger(Redacted.make(proxy.url), directory).pipe(
      Effect.provideService(Clock.Clock, clockOf(proxy)),
      Scope.provide(scope),
      Effect.provide(quiet),
      Effect.runPromise
    )
    return { proxy, scope, ledger }
  }
  const end = async ({ scope, proxy }: Member) => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await proxy.close()
  }
  while (members.length < servers) members.push(await join())
  const unknownSecret = newApiKey()

  const getMember = (index: number) => {
    const member = members[index]
    if (member === undefined) throw new Error(`there is no server ${index}`)
    return member
  }
  /** Statements of a dead server continue in the database until they end. */
  const waitForSessions = (ports: ReadonlyArray<number>) =>
    waitUntil(async () => {
      const alive = await rows<{ client_port: number }>(
        "select client_port from pg_stat_activity where client_port > 0"
      )
      return !alive.some(({ client_port }) => ports.includes(client_port))
    })

  return {
    servers: () => members.map(({ ledger }) => ledger),
    entriesOf: (accountId) => Effect.runPromise(Stream.runCollect(administration.entriesOf(accountId))),
    restart: async (index, begin) => {
      begin()
      await end(getMember(index))
      members[index] = await join()
    },
    crash: async (index, { moment, tear }, begin) => {
      const dead = getMember(index)
      const ports = dead.proxy.ports()
      if (moment === "after") dead.proxy.loseCommitResponse()
      if (moment === "idle" || moment === "before") dead.proxy.cut()
      const ended = begin()
      if (moment === "torn") await waitTurns(Math.round(tear * 40))
      if (moment === "after") await Promise.race([waitUntil(dead.proxy.isCut), ended])
      dead.proxy.cut()
      await waitForSessions([...ports, ...dead.proxy.ports()])
      members[index] = await join()
      await end(dead)
    },
    beginOutage: async () => {
      for (const { ledger, proxy } of members) {
        proxy.cut()
        await ledger.authenticate(unknownSecret, Date.now()).catch(() => {})
        await waitUntil(() => !ledger.writable())
      }
    },
    endOutage: async () => {
      for (const member of members) {
        member.proxy.repair()
        await waitUntil(member.ledger.writable)
      }
    },
    close: async () => {
      for (const member of members) await end(member)
      await Effect.runPromise(Scope.close(watching, Exit.void))
      rmSync(doubts, { recursive: true })
    }
  }
}

/** `newDatabase` returns the URL of an empty database. */
export const overPostgres = (newDatabase: () => Promise<string>, servers: number): LedgerKind => ({
  name: servers === 1 ? "one server on PostgreSQL" : `${servers} servers on PostgreSQL`,
  traits: {
    supportsUsage: true,
    outage: "of everything",
    hasExactRemaining: false,
    hasGaplessNumbers: false,
    decidesAgain: true,
    remembersRequestIds: "forever"
  },
  open: async () => open(await newDatabase(), servers)
})

/** Two servers that share a ledger in PostgreSQL, each behind a connection that can be cut. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { PgClient } from "@effect/sql-pg"
import { administerPostgres, connect, type LedgerAccess, openPostgresLedger } from "@larder/serve/ledger"
import { type DecisionEvent, decisionChannel } from "@larder/serve/ledger/postgres/groups/group-writer.ts"
import type { LeasePolicy } from "@larder/serve/ledger/postgres/leases/lease-rules.ts"
import { Context, Effect, Exit, Layer, Logger, Redacted, Scope, Stream } from "effect"
import { type FaultyProxy, startFaultyProxy } from "../faulty-proxy.ts"
import type { LedgerKind, Subject } from "./subject.ts"

interface Member {
  readonly proxy: FaultyProxy
  readonly scope: Scope.Closeable
  readonly ledger: LedgerAccess
  /** Its present name in the database. */
  id: string
}

const waitUntil = async (isDone: () => boolean | Promise<boolean>) => {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 5))
}
const waitTurns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Outages are part of these histories, so their log messages are discarded. */
const quiet = Logger.layer([])

const open = async (url: string, leasePolicy: LeasePolicy | undefined): Promise<Subject> => {
  const doubts = mkdtempSync(path.join(tmpdir(), "larder-doubts-"))
  const watching = Scope.makeUnsafe()
  const { administration, sql } = await Effect.gen(function* () {
    const administration = administerPostgres(yield* connect(Redacted.make(url)))
    const built = yield* Layer.build(PgClient.layer({ url: Redacted.make(url) }))
    return { administration, sql: Context.get(built, PgClient.PgClient) }
  }).pipe(Scope.provide(watching), Effect.runPromise)
  const rows = <A extends object>(statement: string) => Effect.runPromise(sql.unsafe<A>(statement))
  const idsInDatabase = async () => (await rows<{ id: string }>("select id from ledger.server")).map(({ id }) => id)

  const members: Array<Member> = []
  const newId = async () => {
    const known = members.map(({ id }) => id)
    const unknown = (await idsInDatabase()).filter((id) => !known.includes(id))
    if (unknown.length !== 1) throw new Error(`expected one new server, and found ${unknown}`)
    return unknown[0] ?? ""
  }
  const join = async (): Promise<Member> => {
    const proxy = await startFaultyProxy(url)
    const scope = Scope.makeUnsafe()
    // a separate folder: a server that only seems dead may still write here, unlike a killed process
    const directory = mkdtempSync(path.join(doubts, "server-"))
    const ledger = await openPostgresLedger(Redacted.make(proxy.url), directory, leasePolicy).pipe(
      Scope.provide(scope),
      Effect.provide(quiet),
      Effect.runPromise
    )
    return { proxy, scope, ledger, id: await newId() }
  }
  const end = async ({ scope, proxy }: Member) => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await proxy.close()
  }
  members.push(await join())
  members.push(await join())

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
    /** A lookup is in the same group as the releases before it, or in a later one. */
    settle: async () => {
      await Promise.all(members.map(({ ledger }) => ledger.authenticate("svc_data_nobody", Date.now())))
    },
    restart: async (index, begin) => {
      begin()
      await end(getMember(index))
      members[index] = { ...getMember(index), id: "" }
      members[index] = await join()
    },
    crash: async (index, { moment, tear }, begin) => {
      const dead = getMember(index)
      const ports = dead.proxy.ports()
      if (moment === "after") dead.proxy.loseResponses()
      if (moment === "idle" || moment === "before") dead.proxy.cut()
      const ended = begin()
      if (moment === "torn") await waitTurns(Math.round(tear * 40))
      if (moment === "after") await Promise.race([waitUntil(dead.proxy.isCut), ended])
      dead.proxy.cut()
      await waitForSessions([...ports, ...dead.proxy.ports()])
      await rows(`delete from ledger.server where id = '${dead.id}'`) // as if it had been silent for five seconds
      members[index] = { ...dead, id: "" }
      members[index] = await join()
      await end(dead)
    },
    beginOutage: async () => {
      for (const { ledger, proxy } of members) {
        proxy.cut()
        await ledger.authenticate("svc_data_nobody", Date.now()).catch(() => {})
        await waitUntil(() => !ledger.writable())
      }
    },
    endOutage: async () => {
      for (const member of members) {
        member.proxy.repair()
        await waitUntil(member.ledger.writable)
        member.id = await newId()
      }
    },
    close: async () => {
      for (const member of members) await end(member)
      await Effect.runPromise(Scope.close(watching, Exit.void))
      rmSync(doubts, { recursive: true })
    }
  }
}

/** Takes a lease at the first call, which the other server, operators and tests then have to request again and again. */
export const eager: LeasePolicy = { groupsBeforeLease: 1, sharedDuration: 50 }

/** What decides calls outside the database. Only eager leases follow slices often enough. */
const paths = ["decided by a lease", "decided by a slice"]
const pathsOfEagerLeases = [...paths, "decided by a lease that followed a slice"]
const watch = (note: (event: string) => void) => {
  /** Leases by server and account: whether the server had a slice before. */
  const hadSlice = new Map<string, boolean>()
  const onDecision = (message: unknown) => {
    const { account_id, had_slice, server_id, what } = message as DecisionEvent // the type of this channel
    const name = `${server_id} ${account_id}`
    if (what === "leased") hadSlice.set(name, had_slice)
    else if (what === "slice") note("decided by a slice")
    else note(hadSlice.get(name) ? "decided by a lease that followed a slice" : "decided by a lease")
  }
  decisionChannel.subscribe(onDecision)
  return () => {
    decisionChannel.unsubscribe(onDecision)
  }
}

/** `newDatabase` returns the URL of an empty database. */
export const overPostgres = (newDatabase: () => Promise<string>, leasePolicy?: LeasePolicy): LedgerKind => ({
  name: leasePolicy === undefined ? "two servers on PostgreSQL" : "two servers on PostgreSQL with eager leases",
  traits: {
    supportsUsage: true,
    outage: "of everything",
    hasExactRemaining: false,
    hasGaplessNumbers: false,
    remembersRequestIds: "forever"
  },
  open: async () => open(await newDatabase(), leasePolicy),
  watch,
  paths: leasePolicy === undefined ? paths : pathsOfEagerLeases
})

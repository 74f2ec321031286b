/** Two servers that share a ledger in PostgreSQL, each at the end of a wire that can be cut. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { PgClient } from "@effect/sql-pg"
import {
  administerPostgres,
  connect,
  type DecisionEvent,
  decisionChannel,
  type LeaseHabits,
  type LedgerAccess,
  openPostgresLedger
} from "@larder/serve/ledger"
import { Context, Effect, Exit, Layer, Logger, Redacted, Scope, Stream } from "effect"
import { type BreakableWire, breakableWire } from "../breakable-wire.ts"
import type { LedgerKind, Subject } from "./subject.ts"

interface Member {
  readonly wire: BreakableWire
  readonly scope: Scope.Closeable
  readonly ledger: LedgerAccess
  /** The name under which the database knows it now. */
  id: string
}

const until = async (isSo: () => boolean | Promise<boolean>) => {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5))
}
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Losing the database is what these histories are about. */
const quiet = Logger.layer([])

const open = async (url: string, habits: LeaseHabits | undefined): Promise<Subject> => {
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
    if (unknown.length !== 1) throw new Error(`which of ${unknown} is new?`)
    return unknown[0] ?? ""
  }
  const join = async (): Promise<Member> => {
    const wire = await breakableWire(url)
    const scope = Scope.makeUnsafe()
    // of its own: what a dead one still writes here, where it only seems dead, a killed process could not
    const directory = mkdtempSync(path.join(doubts, "server-"))
    const ledger = await openPostgresLedger(Redacted.make(wire.url), directory, habits).pipe(
      Scope.provide(scope),
      Effect.provide(quiet),
      Effect.runPromise
    )
    return { wire, scope, ledger, id: await newId() }
  }
  const end = async ({ scope, wire }: Member) => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await wire.close()
  }
  members.push(await join())
  members.push(await join())

  const memberAt = (index: number) => {
    const member = members[index]
    if (member === undefined) throw new Error(`there is no server ${index}`)
    return member
  }
  /** What a dead server has asked goes on in the database until it ends, and finds nobody to tell. */
  const sessionsEnded = (ports: ReadonlyArray<number>) =>
    until(async () => {
      const alive = await rows<{ client_port: number }>(
        "select client_port from pg_stat_activity where client_port > 0"
      )
      return !alive.some(({ client_port }) => ports.includes(client_port))
    })

  return {
    servers: () => members.map(({ ledger }) => ledger),
    entriesOf: (accountId) => Effect.runPromise(Stream.runCollect(administration.entriesOf(accountId))),
    /** A look-up goes into the same group as what was released before it, or into a later one. */
    settled: async () => {
      await Promise.all(members.map(({ ledger }) => ledger.authenticate("svc_data_nobody", Date.now())))
    },
    restart: async (index, begin) => {
      begin()
      await end(memberAt(index))
      members[index] = { ...memberAt(index), id: "" }
      members[index] = await join()
    },
    crash: async (index, { moment, tear }, begin) => {
      const dead = memberAt(index)
      const ports = dead.wire.ports()
      if (moment === "after") dead.wire.loseAnswers()
      if (moment === "idle" || moment === "before") dead.wire.cut()
      const ended = begin()
      if (moment === "torn") await turns(Math.round(tear * 40))
      if (moment === "after") await Promise.race([until(dead.wire.isCut), ended])
      dead.wire.cut()
      await sessionsEnded([...ports, ...dead.wire.ports()])
      await rows(`delete from ledger.server where id = '${dead.id}'`) // as its silence would do in five seconds
      members[index] = { ...dead, id: "" }
      members[index] = await join()
      await end(dead)
    },
    beginOutage: async () => {
      for (const { ledger, wire } of members) {
        wire.cut()
        await ledger.authenticate("svc_data_nobody", Date.now()).catch(() => {})
        await until(() => !ledger.writable())
      }
    },
    endOutage: async () => {
      for (const member of members) {
        member.wire.mend()
        await until(member.ledger.writable)
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

/** A lease from the first call on, which the other server, operators and tests then have to ask for again and again. */
export const eager: LeaseHabits = { groupsBeforeLease: 1, sharedFor: 50 }

/** What calls are decided by, outside of the database. Only a lease that is always wanted follows a slice often enough. */
const paths = ["decided by a lease", "decided by a slice"]
const pathsOfEager = [...paths, "decided by a lease that followed a slice"]
const watch = (note: (what: string) => void) => {
  /** Leases by server and account: whether the server had a slice before. */
  const hadSlice = new Map<string, boolean>()
  const onDecision = (message: unknown) => {
    const { account_id, had_slice, server_id, what } = message as DecisionEvent // as its channel says
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

/** `newDatabase` answers the URL of an empty one. */
export const overPostgres = (newDatabase: () => Promise<string>, habits?: LeaseHabits): LedgerKind => ({
  name: habits === undefined ? "two servers on PostgreSQL" : "two servers on PostgreSQL that always want leases",
  traits: {
    sumsUp: true,
    outage: "of everything",
    knowsRemaining: false,
    numbersHaveNoGaps: false,
    remembersRequestIds: "for ever"
  },
  open: async () => open(await newDatabase(), habits),
  watch,
  paths: habits === undefined ? paths : pathsOfEager
})

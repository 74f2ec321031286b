/** Ledgers as servers open them: in a real folder, and in PostgreSQL by one server or by two. Each can be closed and opened again. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { type LedgerAccess, openEmbeddedLedger, openPostgresLedger } from "@larder/serve/ledger"
import { Effect, Exit, Redacted, Scope } from "effect"

export interface LedgerUnderTest {
  readonly servers: number
  /** Whether a server knows at any time what every call holds; else it knows when nothing is in flight. */
  readonly knowsRemaining: boolean
  /** For ever, or only while it is open: ids are unique by their making, and some stores guard only against bugs. */
  readonly remembersRequestIds: boolean
  /** Opens one server's ledger in its folder. */
  readonly open: (folder: string) => Effect.Effect<LedgerAccess, unknown, Scope.Scope>
}

export const inFolder: LedgerUnderTest = {
  servers: 1,
  knowsRemaining: true,
  remembersRequestIds: false,
  open: openEmbeddedLedger
}

export const inPostgres = (url: string, servers: number): LedgerUnderTest => ({
  servers,
  knowsRemaining: false,
  remembersRequestIds: true,
  open: (folder) => openPostgresLedger(Redacted.make(url), folder)
})

export const openAll = async ({ knowsRemaining, open, remembersRequestIds, servers: count }: LedgerUnderTest) => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-model-"))
  const start = async (folder: string) => {
    const scope = Scope.makeUnsafe()
    return { scope, folder, ledger: await Effect.runPromise(Scope.provide(open(folder), scope)) }
  }
  type Running = Awaited<ReturnType<typeof start>>
  const stop = ({ scope }: Running) => Effect.runPromise(Scope.close(scope, Exit.void))
  const running: Array<Running> = []
  for (let server = 0; server < count; server++) running.push(await start(path.join(home, `server-${server}`)))
  return {
    knowsRemaining,
    remembersRequestIds,
    servers: () => running.map(({ ledger }) => ledger),
    /** What it holds is void. */
    reopen: async (server: number) => {
      const before = running[server]
      if (before === undefined) throw new Error(`there is no server ${server}`)
      await stop(before)
      running[server] = await start(before.folder)
    },
    close: async () => {
      for (const one of running) await stop(one)
      rmSync(home, { recursive: true })
    }
  }
}

export type OpenLedgers = Awaited<ReturnType<typeof openAll>>

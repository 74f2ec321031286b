/** Ledgers in a real folder, which can be closed and opened again. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import type { LedgerAccess } from "@larder/serve/ledger"
import { openEmbeddedLedger } from "@larder/serve/ledger/embedded/embedded-ledger.ts"
import { Effect, Exit, Scope } from "effect"

export interface LedgerUnderTest {
  readonly servers: number
  /** Whether `remaining` always counts all holds; otherwise it counts them all only when nothing is in flight. */
  readonly hasExactRemaining: boolean
  /** Whether a charged request id is refused forever; otherwise only while the ledger is open, to detect bugs. */
  readonly remembersRequestIds: boolean
  /** Opens one server's ledger in its folder. */
  readonly open: (folder: string) => Effect.Effect<LedgerAccess, unknown, Scope.Scope>
}

export const inFolder: LedgerUnderTest = {
  servers: 1,
  hasExactRemaining: true,
  remembersRequestIds: false,
  open: openEmbeddedLedger
}

export const openAll = async ({ hasExactRemaining, open, remembersRequestIds, servers: count }: LedgerUnderTest) => {
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
    hasExactRemaining,
    remembersRequestIds,
    servers: () => running.map(({ ledger }) => ledger),
    /** The holds of the server end. */
    reopen: async (server: number) => {
      const before = running[server]
      if (before === undefined) throw new Error(`there is no server ${server}`)
      await stop(before)
      running[server] = await start(before.folder)
    },
    close: async () => {
      for (const server of running) await stop(server)
      rmSync(home, { recursive: true })
    }
  }
}

export type OpenLedgers = Awaited<ReturnType<typeof openAll>>

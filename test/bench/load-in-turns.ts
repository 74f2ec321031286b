/** Loads several servers in turns, and bare h3 beside them. */
import type { ChildProcess } from "node:child_process"
import { mkdtempSync } from "node:fs"
import path from "node:path"
import { countRounds, limitSeconds } from "./effort.ts"
import { load, type Measured } from "./load.ts"
import { createFundedKey, fetchResponse, startChild } from "./servers.ts"
import { describeRounds, takeTurns } from "./turns.ts"

/** Before that, code that is not yet optimised gives a server as little as two thirds of its requests. */
const warmUpSeconds = limitSeconds(10)
const rounds = countRounds(11)
const seconds = limitSeconds(3)

export interface LoadedServer {
  readonly api: string
  readonly child: ChildProcess
  readonly key: string
}

type Rounds<Name extends string> = Readonly<Record<Name, ReadonlyArray<Measured>>>

/** The paths of a round; the warm-up is round -1. */
export type ChoosePaths = (round: number) => ReadonlyArray<string>

const loadOnce = ({ api, child, key }: LoadedServer, paths: ReadonlyArray<string>, seconds: number) =>
  load({ url: api, paths, key, seconds, pid: child.pid })

export const warmUp = (server: LoadedServer, paths: ReadonlyArray<string>) => loadOnce(server, paths, warmUpSeconds)

/** Warms all servers up first. Fails if a call fails. */
export const loadInTurns = async <Name extends string>(
  servers: Readonly<Record<Name, LoadedServer>>,
  choosePaths: ChoosePaths
): Promise<Rounds<Name>> => {
  const entries = Object.entries<LoadedServer>(servers)
  for (const [, server] of entries) await warmUp(server, choosePaths(-1))
  const subjects = entries.map(([name, server]) => {
    const measure = async (round: number) => {
      const measured = await loadOnce(server, choosePaths(round), seconds)
      if (measured.failed > 0) throw new Error(`${measured.failed} calls failed: ${name}`)
      return measured
    }
    return [name, measure] as const
  })
  return takeTurns<Record<Name, Measured>>(
    rounds,
    Object.fromEntries(subjects) as Record<Name, (typeof subjects)[number][1]>
  )
}

type Bare = "bare" | "fastest" | "charging"

/**
 * Loads bare h3 as well, which returns one typical response of a server, without its work: `bare` with the usual response
 * of h3, `fastest` with the one whose headers Node gets as they are, and `charging` with that one, too, after it has
 * charged the call. `folder` is for its ledger.
 */
export const loadBesideBare = async <Name extends string>(
  folder: string,
  servers: Readonly<Record<Name, LoadedServer>>,
  typical: { readonly server: LoadedServer; readonly path: string },
  choosePaths: ChoosePaths
): Promise<Rounds<Name | Bare> & { readonly bytes: number }> => {
  const { key } = typical.server
  const response = await fetchResponse(typical.server.api + typical.path, key)
  const home = mkdtempSync(path.join(folder, "bare-"))
  const bare = await startChild("bare.ts", JSON.stringify(response))
  const fastest = await startChild("bare.ts", JSON.stringify({ ...response, isFastest: true }))
  const ownKey = await createFundedKey(home)
  const charging = await startChild("bare-charged.ts", JSON.stringify({ ...response, home }))
  try {
    const all = { bare: { ...bare, key }, fastest: { ...fastest, key }, charging: { ...charging, key: ownKey } }
    const measured = await loadInTurns<Name | Bare>({ ...servers, ...all }, choosePaths)
    return { ...measured, bytes: Buffer.byteLength(response.body) }
  } finally {
    for (const server of [bare, fastest, charging]) server.stop()
  }
}

/** Rows of a table. */
export const describeBare = ({ bare, charging, fastest }: Rounds<Bare>) => ({
  "bare h3, same headers": describeRounds(bare),
  "bare h3, its fastest response": describeRounds(fastest),
  "bare h3, its fastest response, charged": describeRounds(charging)
})

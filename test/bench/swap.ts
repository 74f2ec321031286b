/** Measures swaps under load: rollbacks of commodities, back and forth between two generations, while clients call. */
import { setTimeout as pause } from "node:timers/promises"
import { addGeneration } from "../support/more-generations.ts"
import { run } from "../support/programs.ts"
import { limitSeconds } from "./effort.ts"
import { load } from "./load.ts"
import type { LoadedServer } from "./load-in-turns.ts"

const seconds = limitSeconds(8)

export const swapUnderLoad = async (options: {
  readonly home: string
  readonly request: string
  readonly server: LoadedServer
}) => {
  const { home, request, server } = options
  const { api, child, key } = server
  const call = () => load({ url: api + request, key, seconds, pid: child.pid })
  const environment = { LARDER_HOME: home }
  await addGeneration(home, ["2026-09-30"])
  const before = await call()
  const loading = call()
  for (const to of ["larder-000003", "larder-000004", "larder-000003", "larder-000004"]) {
    await pause(500)
    const { code, stderr } = await run("larder-ingest", ["rollback", "--to", to], environment)
    if (code !== 0) throw new Error(stderr)
  }
  return { before, during: await loading }
}

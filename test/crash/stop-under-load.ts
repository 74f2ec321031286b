/** Stops a server by either signal while callers continue: each call that it has received gets a response. */
import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import type { Server } from "../support/programs.ts"
import type { History } from "./history.ts"

export const stopUnderLoad = async ({ call, chance, count }: History, server: Server) => {
  const callers = call(server)
  await callers.allStarted
  await sleep(chance.between(0, 400))
  count("calls in flight at a stop", callers.countInFlight())
  callers.tolerate("refused connections")
  expect(await server.stop(chance.between(0, 1) === 0 ? "SIGTERM" : "SIGINT")).toBe(0)
  await callers.end()
}

/**
 * Bare h3 that charges: one handler that authenticates the caller, charges the call durably in the ledger of a home, and
 * returns the same bytes and headers in the fastest way. It reads no parameters and no data, has no limits, and logs
 * nothing, so no server over this ledger can be faster. Prints its address.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ledgerDirectoryIn } from "@larder/serve/cli"
import { openLedgerFile, openServerLedger, readBearerKey } from "@larder/serve/ledger"
import { Effect } from "effect"
import { type EventHandler, H3, serve } from "h3"
import { FastResponse } from "srvx"

const { body, headers, home } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly body: string
  readonly headers: Record<string, string>
  readonly home: string
}
const call = { endpoint: "/v1/commodities/prices", scope: "get-commodity-prices", credits: 10 } as const

const open = Effect.gen(function* () {
  const ledger = yield* Effect.flatMap(openLedgerFile(ledgerDirectoryIn(home)), openServerLedger)
  let charged = 0
  const respond: EventHandler = async ({ req }) => {
    const key = await ledger.authenticate(readBearerKey(req.headers.get("authorization")) ?? "", Date.now())
    const admission = key && (await ledger.hold(key, call, Date.now()))
    if (admission === undefined || "refused" in admission) throw new Error("the call was refused")
    await admission.held.capture(`req_${++charged}`)
    return new FastResponse(body, { headers })
  }
  const app = new H3({ silent: true })
  app.get("/**", respond)
  const server = serve(app, { hostname: "127.0.0.1", port: 0, silent: true, gracefulShutdown: false })
  yield* Effect.promise(() => server.ready())
  console.log(JSON.stringify({ api: server.url?.replace(/\/$/, "") }))
  yield* Effect.never
})

await Effect.runPromise(open.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

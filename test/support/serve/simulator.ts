/** A simulator with its own database, in a temporary folder that is removed with the scope. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { Simulator } from "@larder/serve/billing"
import { Context, Effect, Layer } from "effect"
import { consoleIn } from "./sqlite-console.ts"

export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-simulator-"))),
  (created) => Effect.sync(() => rmSync(created, { recursive: true, force: true }))
)

/** Opens a simulator in a folder. Opening another one there simulates a restart of the server. */
export const simulatorIn = (home: string, consoleUrl: () => string = () => "http://127.0.0.1:9") =>
  Effect.map(Layer.build(Simulator.layer(consoleUrl).pipe(Layer.provide(consoleIn(home)))), (services) =>
    Context.get(services, Simulator)
  )

export const aSimulator = Effect.flatMap(folder, (home) => simulatorIn(home))

export const asked = (payment_id: string, cents = 5000) => ({
  payment_id,
  account_id: "acct_1",
  cents,
  created_at: new Date().toISOString()
})
export const onPage = {
  email: "ada@example.test",
  customer: null,
  success_url: "http://127.0.0.1:9/billing/payments/pay_1",
  cancel_url: "http://127.0.0.1:9/billing"
}
export const good = { number: "4242 4242 4242 4242", expires: "04/35", cvc: "123" }

/** A simulator on its own database, in a temporary folder that is deleted with the scope. */

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { Simulator } from "@larder/serve/billing"
import { Context, Effect, Layer } from "effect"
import { consoleIn } from "./sqlite-console.ts"

export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(path.join(tmpdir(), "larder-simulator-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

/** Opening a second simulator in the same folder has the effect of a restart. */
export const openSimulatorIn = (home: string, consoleUrl: () => string = () => "http://127.0.0.1:9") =>
  Effect.map(Layer.build(Simulator.layer(consoleUrl).pipe(Layer.provide(consoleIn(home)))), (services) =>
    Context.get(services, Simulator)
  )

export const openSimulator = Effect.flatMap(temporaryFolder, (home) => openSimulatorIn(home))

export const newRequest = (payment_id: string, cents = 5000) => ({
  payment_id,
  account_id: "acct_1",
  cents,
  created_at: new Date().toISOString()
})
export const pageDetails = {
  email: "ada@example.test",
  customer: null,
  success_url: "http://127.0.0.1:9/billing/payments/pay_1",
  cancel_url: "http://127.0.0.1:9/billing"
}
export const validCard = { number: "4242 4242 4242 4242", expires: "04/35", cvc: "123" }

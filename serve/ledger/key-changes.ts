/** Logs which keys were created, changed, replaced and revoked, and by which actor; never the secret. */
import { Effect } from "effect"
import { Administration, type KeySummary } from "./administration.ts"

/** The same administration, with logging. `by` is the id of a person, or the name of another actor. */
export const logKeyChanges = (ledger: Administration["Service"], by: string) => {
  const log = (message: string) => (key: Pick<KeySummary, "id" | "account_id">) =>
    Effect.annotateLogs(Effect.logInfo(message), { key_id: key.id, account_id: key.account_id, by })
  return Administration.of({
    ...ledger,
    createKey: (input) => Effect.tap(ledger.createKey(input), log("key made")),
    editKey: (input) => Effect.tap(ledger.editKey(input), log("key changed")),
    rotateKey: (input) => Effect.tap(ledger.rotateKey(input), log("key replaced")),
    revokeKey: (input) => Effect.tap(ledger.revokeKey(input), log("key revoked"))
  })
}

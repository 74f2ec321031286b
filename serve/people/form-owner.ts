/**
 * Signs the owner of a form: the person and the account that its page was shown to. The secret is in the console's
 * tables, so that a form is still accepted after a restart, and by other servers.
 */
import { createHmac } from "node:crypto"
import { Effect, Redacted, Schema } from "effect"
import type { Statements } from "../persistence/index.ts"
import type { Person } from "./person.ts"
import { newToken } from "./tokens.ts"

const SecretRow = Schema.Struct({ secret: Schema.RedactedFromValue(Schema.String) })

const savedSecret = "select secret from console.form_secret"
const newSecret = "insert into console.form_secret (id, secret) values ('form', $1) on conflict (id) do nothing"

/** Of several servers that write the first secret, one wins, and all of them read that one. */
const createSecret = Effect.fnUntraced(function* ({ all, run }: Statements) {
  yield* run(newSecret, [yield* newToken])
  return yield* all(SecretRow, savedSecret)
})

/** 43 letters, digits, `-` and `_`. */
export const signFormOwner = Effect.fnUntraced(function* (statements: Statements, { account_id, id }: Person) {
  const saved = yield* statements.all(SecretRow, savedSecret)
  const [row] = saved.length > 0 ? saved : yield* createSecret(statements)
  if (row === undefined) return yield* Effect.die(new Error("the secret of the console's forms was not saved"))
  return createHmac("sha256", Redacted.value(row.secret)).update(`${account_id} ${id}`).digest("base64url")
})

/**
 * The ledger in PostgreSQL, shared by many servers. The database decides (`functions/*.sql`), for all of them; a server
 * remembers keys only so that it need not ask for their scopes, and every hold says which revision it knows.
 */
import { Effect, type Redacted } from "effect"
import { fingerprint } from "../../access/api-key.ts"
import { type ChargedRequests, chargedRequests, chargedTwice } from "../charged-requests.ts"
import { type Admission, type Held, Ledger, noCounts } from "../ledger.ts"
import type { ApiKeyView } from "../machine.ts"
import { monthOf, timestampOf } from "../moments.ts"
import { administer } from "./administer.ts"
import { type Conversation, converse } from "./conversation.ts"
import { connect, groupStatements, placeOf, unavailable } from "./database.ts"
import { doubtFiles } from "./doubt-files.ts"
import type { Decided } from "./group.ts"
import { type RememberedKeys, rememberedKeys } from "./remembered-keys.ts"
import { verifyHeads } from "./verification.ts"

/** One admitted call. It ends once. */
const heldCall = (
  conversation: Conversation,
  charged: ChargedRequests,
  keys: RememberedKeys,
  { membership }: Decided,
  call: { key: ApiKeyView; endpoint: string; credits: number; budget: number; nowMs: number }
): Held => {
  const { budget, credits, endpoint, key, nowMs } = call
  let stage: "held" | "ended" = "held"
  const release = () => {
    if (stage === "ended") return
    stage = "ended"
    conversation.release({ account_id: key.account_id, key_id: key.id, month: monthOf(nowMs), credits }, membership)
    keys.giveBack(key, credits) // the answer to this call is sent before the database has the release
  }
  return {
    commit: async (requestId) => {
      if (stage === "ended") throw new Error(`the hold of request ${requestId} has been used already`)
      if (!charged.add(requestId)) {
        release()
        throw chargedTwice(requestId)
      }
      stage = "ended"
      await conversation.charge(
        {
          account_id: key.account_id,
          type: "charge",
          occurred_at: timestampOf(nowMs),
          key_id: key.id,
          endpoint,
          credits: -credits,
          budget_credits: budget,
          request_id: requestId,
          note: null
        },
        membership
      )
    },
    release
  }
}

/** `directory` keeps what must not be forgotten while the database is away: `$LARDER_HOME/ledger`. */
export const postgresLedger = Effect.fn("PostgresLedger.open")(function* (url: Redacted.Redacted, directory: string) {
  const sql = yield* connect(url)
  yield* verifyHeads(sql, placeOf(url))
  const statements = yield* groupStatements(sql)
  const counters = noCounts()
  const keys = rememberedKeys()
  const charged = chargedRequests()
  const log = Effect.runForkWith(yield* Effect.context<never>())
  const conversation = yield* Effect.acquireRelease(
    Effect.tryPromise({
      try: () =>
        converse(
          statements,
          doubtFiles(directory),
          counters,
          {
            remaining: keys.setRemaining,
            lost: (cause) =>
              log(Effect.logWarning(`${cause.message}. Calls are refused, and not charged, until it is back.`)),
            found: () => log(Effect.logInfo("The ledger is back.")),
            locked: (id) =>
              log(
                Effect.logWarning(
                  `Somebody has locked account ${id} in the database. Its calls are refused, and not charged, for five seconds.`
                )
              )
          },
          Date.now
        ),
      catch: unavailable("be joined")
    }),
    (conversation) => Effect.promise(conversation.close)
  )
  const administration = administer(sql)

  const lookUp = async (sha256: string) => {
    const key = await conversation.lookUp(sha256)
    if (key === null || key.revoked) {
      keys.forget(sha256)
      return undefined
    }
    return keys.remember(key)
  }

  return Ledger.of({
    authenticate: async (token) => {
      const sha256 = fingerprint(token)
      return keys.get(sha256) ?? (await lookUp(sha256))
    },
    isCurrent: async (key) => (await lookUp(keys.sha256Of(key)))?.revision === key.revision,
    hold: async (key, endpoint, credits, nowMs): Promise<Admission> => {
      const { account_id, id: key_id, revision } = key
      const decided = await conversation.hold({ account_id, key_id, revision, month: monthOf(nowMs), credits })
      const { outcome } = decided
      if (outcome === "held") {
        return {
          held: heldCall(conversation, charged, keys, decided, {
            key,
            endpoint,
            credits,
            budget: keys.budgetOf(key),
            nowMs
          })
        }
      }
      if (outcome === "key_changed") keys.forget(keys.sha256Of(key))
      else counters[`refused_${outcome}`]++
      return { refused: outcome }
    },
    remaining: (key) => keys.remainingOf(key),
    writable: conversation.isWritable,
    counters,
    administration
  })
})

/**
 * What a server remembers of keys: scopes, to judge calls by, and what the key could spend when it was last asked for. It
 * is never the last word: the database checks the revision.
 */
import type { ApiKeyView } from "../machine.ts"
import type { GroupAnswer, StoredKey } from "./wire.ts"

interface RememberedKey extends ApiKeyView {
  readonly sha256: string
  readonly budget_credits: number
  remaining: number
}

/** Some 50 MB. The one remembered longest goes first. */
const mostKeys = 100_000

export const rememberedKeys = () => {
  const bySha256 = new Map<string, RememberedKey>()
  const byId = new Map<string, RememberedKey>()
  /** What was handed out stays known to whoever has it, forgotten or not. */
  const handedOut = new WeakMap<ApiKeyView, RememberedKey>()
  const own = (view: ApiKeyView): RememberedKey => {
    const key = handedOut.get(view)
    if (key === undefined) throw new Error(`key ${view.id} is not from this ledger`)
    return key
  }

  const forget = (sha256: string) => {
    const key = bySha256.get(sha256)
    if (key === undefined) return
    bySha256.delete(sha256)
    byId.delete(key.id)
  }

  return {
    get: (sha256: string): ApiKeyView | undefined => bySha256.get(sha256),
    remember: (stored: StoredKey): ApiKeyView => {
      const { account_id, budget_credits, id, name, remaining, revision, scopes, sha256 } = stored
      const known = byId.get(id)
      if (known?.revision === revision) {
        known.remaining = remaining
        return known
      }
      const key = { id, account_id, name, scopes: new Set(scopes), revision, sha256, budget_credits, remaining }
      bySha256.set(sha256, key)
      byId.set(id, key)
      handedOut.set(key, key)
      const [oldest] = bySha256.keys()
      if (bySha256.size > mostKeys && oldest !== undefined) forget(oldest)
      return key
    },
    forget,
    setRemaining: (remaining: GroupAnswer["remaining"]): void => {
      for (const id in remaining) {
        const key = byId.get(id)
        if (key !== undefined) key.remaining = remaining[id] ?? 0
      }
    },
    /** Credits of a hold that was released. */
    giveBack: (key: ApiKeyView, credits: number): void => {
      ;(byId.get(key.id) ?? own(key)).remaining += credits
    },
    sha256Of: (key: ApiKeyView) => own(key).sha256,
    budgetOf: (key: ApiKeyView) => own(key).budget_credits,
    remainingOf: (key: ApiKeyView) => (byId.get(key.id) ?? own(key)).remaining
  }
}

export type RememberedKeys = ReturnType<typeof rememberedKeys>

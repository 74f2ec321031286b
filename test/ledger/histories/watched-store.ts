/** A store of the embedded ledger whose groups are recorded, refused or interrupted. */
import { type Entry, LedgerUnavailable } from "@larder/serve/ledger"
import type { LedgerStore } from "@larder/serve/ledger/embedded/embedded-store.ts"
import type { Group } from "@larder/serve/ledger/rules/ledger-state.ts"
import type { Death } from "./subject.ts"

export interface StoreHooks {
  /** Copies what the process had written when it was killed. `write` writes the pending group. */
  readonly onDeath: (death: Death, write: () => Promise<void>) => Promise<void>
  /** Runs after each group that is not interrupted. */
  readonly afterGroup: () => void
}

interface WatchedStore extends LedgerStore {
  isDown: boolean
  /** Resolves when the process has died, at the next group or immediately. Nothing is written from then on. */
  readonly dieAtNextGroup: (death: Death) => Promise<void>
  readonly dieNow: () => Promise<void>
}

const isEmpty = ({ accounts, entries, keys }: Group) => accounts.length + entries.length + keys.length === 0

/** `written` receives every durable entry. */
export const watch = (store: LedgerStore, written: Array<Entry>, { afterGroup, onDeath }: StoreHooks): WatchedStore => {
  let isDead = false
  let atNextGroup: ((group: Group) => Promise<void>) | undefined
  const killedError = () => new LedgerUnavailable({ action: "be written", cause: new Error("the process was killed") })
  const write = async (group: Group) => {
    await store.append(group)
    written.push(...group.entries)
  }
  const watched: WatchedStore = {
    ...store,
    isDown: false,
    append: async (group) => {
      if (isDead) throw killedError()
      if (watched.isDown) {
        throw new LedgerUnavailable({ action: "be written", cause: new Error("no space left on device") })
      }
      if (atNextGroup === undefined || isEmpty(group)) return write(group).then(afterGroup)
      await atNextGroup(group)
      throw killedError()
    },
    dieAtNextGroup: (death) =>
      new Promise((resolve, reject) => {
        atNextGroup = (group) => {
          isDead = true
          const copied = onDeath(death, () => (death.moment === "after" ? write(group) : store.append(group)))
          copied.then(resolve, reject)
          return copied
        }
      }),
    dieNow: async () => {
      if (isDead) return
      isDead = true
      await onDeath({ moment: "idle", tear: 0, tornAt: "end" }, async () => {})
    }
  }
  return watched
}

/** A store of the embedded ledger whose groups are seen, refused or interrupted on their way to it. */

import { type Entry, type Group, type LedgerStore, LedgerUnavailable } from "@larder/serve/ledger"
import type { Death } from "./subject.ts"

export interface Fate {
  /** Puts what a killed process would leave behind in another place. `write` writes the group that is under way. */
  readonly leaveBehind: (death: Death, write: () => Promise<void>) => Promise<void>
  /** Runs after each group that no death interrupts. */
  readonly afterGroup: () => void
}

interface WatchedStore extends LedgerStore {
  isOut: boolean
  /** Resolves when the process has died: at the next group, or at once. Nothing is written from then on, nor twice left. */
  readonly dieAtNextGroup: (death: Death) => Promise<void>
  readonly dieNow: () => Promise<void>
}

const isEmpty = ({ accounts, entries, keys }: Group) => accounts.length + entries.length + keys.length === 0

/** `written` gets every entry that is durable. */
export const watch = (store: LedgerStore, written: Array<Entry>, { afterGroup, leaveBehind }: Fate): WatchedStore => {
  let isDead = false
  let atNextGroup: ((group: Group) => Promise<void>) | undefined
  const killed = () => new LedgerUnavailable({ action: "be written", cause: new Error("the process was killed") })
  const write = async (group: Group) => {
    await store.append(group)
    written.push(...group.entries)
  }
  const watched: WatchedStore = {
    ...store,
    isOut: false,
    append: async (group) => {
      if (isDead) throw killed()
      if (watched.isOut) {
        throw new LedgerUnavailable({ action: "be written", cause: new Error("no space left on device") })
      }
      if (atNextGroup === undefined || isEmpty(group)) return write(group).then(afterGroup)
      await atNextGroup(group)
      throw killed()
    },
    dieAtNextGroup: (death) =>
      new Promise((resolve, reject) => {
        atNextGroup = (group) => {
          isDead = true
          const left = leaveBehind(death, () => (death.moment === "after" ? write(group) : store.append(group)))
          left.then(resolve, reject)
          return left
        }
      }),
    dieNow: async () => {
      if (isDead) return
      isDead = true
      await leaveBehind({ moment: "idle", tear: 0, tornAt: "end" }, async () => {})
    }
  }
  return watched
}

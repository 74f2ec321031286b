/**
 * Collects requests into groups and has the groups sent, one at a time: requests that arrive meanwhile go into the next
 * group. The parts of a group that was split are sent first.
 */
import { type CallGroup, newGroup } from "./group.ts"

/**
 * Milliseconds that a group waits for the charges of held calls, of accounts that several servers call: those servers
 * write one after the other, so larger groups are better.
 */
const gatherDelay = 2

export const makeGroupQueue = (options: {
  /** Never rejects. */
  readonly send: (group: CallGroup) => Promise<void>
  readonly expectsCharges: () => boolean
}) => {
  let next: CallGroup | undefined
  let sending: Promise<void> | undefined
  let parts: Array<CallGroup> = []

  const sendSoon = () => {
    if (options.expectsCharges()) setTimeout(sendNext, gatherDelay)
    else setImmediate(sendNext)
  }
  const sendNext = () => {
    const group = next
    if (group === undefined) return
    next = undefined
    sending = sendWithParts(group).then(() => {
      sending = undefined
      if (next !== undefined) sendSoon()
    })
  }
  const sendWithParts = async (group: CallGroup) => {
    for (let part: CallGroup | undefined = group; part !== undefined; part = parts.shift()) await options.send(part)
  }

  return {
    /** The next group. */
    open: (): CallGroup => {
      if (next !== undefined) return next
      if (sending === undefined) sendSoon()
      next = newGroup(performance.now())
      return next
    },
    /** The next group, if it already exists. */
    collected: (): CallGroup | undefined => next,
    /** Sends these groups before the next one. */
    sendFirst: (group: ReadonlyArray<CallGroup>): void => {
      parts.unshift(...group)
    },
    /** Removes and returns the groups that were not sent. */
    takeUnsent: (): ReadonlyArray<CallGroup> => {
      const unsent = next === undefined ? parts : [...parts, next]
      next = undefined
      parts = []
      return unsent
    },
    waitUntilEmpty: async (): Promise<void> => {
      while (next !== undefined || sending !== undefined) {
        await (sending ?? new Promise((resolve) => setImmediate(resolve)))
      }
    }
  }
}

export type GroupQueue = ReturnType<typeof makeGroupQueue>

/**
 * Gathers what arrives into groups and has them sent, one at a time: what arrives meanwhile goes into the next one. A group that
 * was taken apart comes first.
 */
import { type CallGroup, newGroup } from "./group.ts"

/**
 * Milliseconds for which a group waits for calls that are held already, of accounts that several servers call. Those servers
 * write one after the other: the more calls a group has the better.
 */
const gathering = 2

export const groupQueue = (options: {
  /** Never rejects. */
  readonly send: (group: CallGroup) => Promise<void>
  readonly expectsCharges: () => boolean
}) => {
  let next: CallGroup | undefined
  let sending: Promise<void> | undefined
  let parts: Array<CallGroup> = []

  const sendSoon = () => {
    if (options.expectsCharges()) setTimeout(sendNext, gathering)
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
    /** The next group where something waits for it already. */
    gathered: (): CallGroup | undefined => next,
    /** Before the next group. */
    sendApart: (group: ReadonlyArray<CallGroup>): void => {
      parts.unshift(...group)
    },
    /** Nothing of these was sent, and they will not be. */
    takeUnsent: (): ReadonlyArray<CallGroup> => {
      const unsent = next === undefined ? parts : [...parts, next]
      next = undefined
      parts = []
      return unsent
    },
    untilEmpty: async (): Promise<void> => {
      while (next !== undefined || sending !== undefined) {
        await (sending ?? new Promise((resolve) => setImmediate(resolve)))
      }
    }
  }
}

export type GroupQueue = ReturnType<typeof groupQueue>

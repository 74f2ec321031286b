/** What waits, by account: accounts take turns, and within an account who came first goes first. */
export const makeRoundRobin = <T>() => {
  /** In the order in which accounts have their turn. */
  const queues = new Map<string, Array<T>>()

  const without = (account: string, queue: Array<T>, index: number) => {
    queue.splice(index, 1)
    if (queue.length === 0) queues.delete(account)
  }

  return {
    add: (account: string, item: T): void => {
      const queue = queues.get(account)
      if (queue === undefined) queues.set(account, [item])
      else queue.push(item)
    },
    /** Takes the first one that may go; its account comes behind the others then. */
    take: (mayGo: (item: T) => boolean = () => true): T | undefined => {
      for (const [account, queue] of queues) {
        const index = queue.findIndex(mayGo)
        const item = queue[index]
        if (item === undefined) continue
        without(account, queue, index)
        if (queues.delete(account)) queues.set(account, queue)
        return item
      }
      return undefined
    },
    remove: (account: string, item: T): void => {
      const queue = queues.get(account)
      const index = queue?.indexOf(item) ?? -1
      if (queue !== undefined && index >= 0) without(account, queue, index)
    },
    count: (): number => [...queues.values()].reduce((sum, { length }) => sum + length, 0)
  }
}

/** Queues by name, such as one for each account. Queues are served round robin; each is first in, first out by default. */
export const makeRoundRobin = <T>() => {
  /** In the order in which queues are served. */
  const queues = new Map<string, Array<T>>()

  return {
    /** Adds the item to the end of its queue, or before the first one that it precedes. */
    add: (name: string, item: T, precedes: (other: T) => boolean = () => false): void => {
      const queue = queues.get(name) ?? []
      queues.set(name, queue)
      const place = queue.findIndex(precedes)
      queue.splice(place === -1 ? queue.length : place, 0, item)
    },
    /** Removes and returns the first eligible head of a queue; that queue moves behind the others. */
    take: (isEligible: (item: T) => boolean = () => true): T | undefined => {
      for (const [name, queue] of queues) {
        const [first] = queue
        if (first === undefined || !isEligible(first)) continue
        queue.shift()
        queues.delete(name)
        if (queue.length > 0) queues.set(name, queue)
        return first
      }
      return undefined
    },
    remove: (name: string, item: T): void => {
      const queue = queues.get(name)
      const index = queue?.indexOf(item) ?? -1
      if (queue === undefined || index < 0) return
      queue.splice(index, 1)
      if (queue.length === 0) queues.delete(name)
    }
  }
}

/** What waits in lines, such as one for each account: lines take turns, and within a line who came first goes first. */
export const makeRoundRobin = <T>() => {
  /** In the order in which lines have their turn. */
  const lines = new Map<string, Array<T>>()

  return {
    add: (name: string, item: T): void => {
      const line = lines.get(name)
      if (line === undefined) lines.set(name, [item])
      else line.push(item)
    },
    /** Takes the first of a line that may go; its line comes behind the others then. */
    take: (mayGo: (item: T) => boolean = () => true): T | undefined => {
      for (const [name, line] of lines) {
        const [first] = line
        if (first === undefined || !mayGo(first)) continue
        line.shift()
        lines.delete(name)
        if (line.length > 0) lines.set(name, line)
        return first
      }
      return undefined
    },
    remove: (name: string, item: T): void => {
      const line = lines.get(name)
      const index = line?.indexOf(item) ?? -1
      if (line === undefined || index < 0) return
      line.splice(index, 1)
      if (line.length === 0) lines.delete(name)
    }
  }
}

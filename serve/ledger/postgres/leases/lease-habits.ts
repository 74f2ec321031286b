/** When a server takes the lease of an account, by how often the database decides its calls. */
export interface LeaseHabits {
  /** If the database decides calls of an account in this many groups within a second, the server takes its lease. */
  readonly groupsBeforeLease: number
  /** Milliseconds for which no server takes the lease of an account after several have used it. */
  readonly sharedFor: number
}

export const countUses = ({ groupsBeforeLease }: LeaseHabits) => {
  const byAccount = new Map<string, { count: number; since: number }>()
  return {
    add: (id: string) => {
      const now = performance.now()
      const use = byAccount.get(id)
      if (use === undefined || now - use.since > 1_000) byAccount.set(id, { count: 1, since: now })
      else use.count++
    },
    areMany: (id: string) => (byAccount.get(id)?.count ?? 0) >= groupsBeforeLease,
    forget: () => {
      for (const [id, { since }] of byAccount) if (performance.now() - since > 1_000) byAccount.delete(id)
    }
  }
}

export type UseCounts = ReturnType<typeof countUses>

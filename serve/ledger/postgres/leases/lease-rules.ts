/** When a server takes the lease of an account, and how long it may rely on its leases. */

export interface LeasePolicy {
  /** If the database decides calls of an account in this many groups within a second, the server takes its lease. */
  readonly groupsBeforeLease: number
  /** Milliseconds for which no server takes the lease of an account after several have used it. */
  readonly sharedDuration: number
}

export const countUses = ({ groupsBeforeLease }: LeasePolicy) => {
  const byAccount = new Map<string, { count: number; since: number }>()
  return {
    add: (id: string) => {
      const now = performance.now()
      const use = byAccount.get(id)
      if (use === undefined || now - use.since > 1_000) byAccount.set(id, { count: 1, since: now })
      else use.count++
    },
    isFrequent: (id: string) => (byAccount.get(id)?.count ?? 0) >= groupsBeforeLease,
    deleteOld: () => {
      for (const [id, { since }] of byAccount) if (performance.now() - since > 1_000) byAccount.delete(id)
    }
  }
}

export type UseCounts = ReturnType<typeof countUses>

/** Milliseconds for which a server may rely on its leases after it last sent a statement that succeeded. */
const maxSilence = 3_500
/** Milliseconds by which the two clocks may drift apart. Both limits together are less than five seconds. */
const maxDrift = 1_000

export type Clocks = Readonly<Record<"monotonic" | "timeOfDay", () => number>>
export type ClockReadings = Readonly<Record<keyof Clocks, number>>

/**
 * Whether the server still has its leases. After five seconds of silence, another server may have
 * them. The database refuses charges then, but admissions do not query it, so they depend on this check.
 *
 * The monotonic clock of a suspended machine may stop while the time of day advances, so both must have advanced
 * equally. If an operator sets the time of day, calls are decided in the database until the next heartbeat.
 */
export const trackLeaseTrust = (clocks: Clocks) => {
  const now = (): ClockReadings => ({ monotonic: clocks.monotonic(), timeOfDay: clocks.timeOfDay() })
  let renewedAt = now()
  return {
    now,
    /** `since` is when the server began to send the statement that succeeded. */
    renew: (since: ClockReadings): void => {
      renewedAt = since
    },
    isTrusted: (): boolean => {
      const elapsed = clocks.monotonic() - renewedAt.monotonic
      const drift = clocks.timeOfDay() - renewedAt.timeOfDay - elapsed
      return elapsed < maxSilence && Math.abs(drift) < maxDrift
    }
  }
}

export type LeaseTrust = ReturnType<typeof trackLeaseTrust>

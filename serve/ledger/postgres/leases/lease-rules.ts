/** When a server takes the lease of an account, and how long it may rely on its leases. */

export interface LeasePolicy {
  /** If the database decides calls of an account in this many groups within a second, the server takes its lease. */
  readonly groupsBeforeLease: number
  /** Milliseconds for which no server takes the lease of an account after several have used it. */
  readonly sharedFor: number
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
    areMany: (id: string) => (byAccount.get(id)?.count ?? 0) >= groupsBeforeLease,
    forget: () => {
      for (const [id, { since }] of byAccount) if (performance.now() - since > 1_000) byAccount.delete(id)
    }
  }
}

export type UseCounts = ReturnType<typeof countUses>

/** Milliseconds since the database last heard from the server. */
const maxSilence = 3_500
/** Milliseconds by which the two clocks may drift apart. Both limits together are less than five seconds. */
const maxDrift = 1_000

export type Clocks = Readonly<Record<"monotonic" | "timeOfDay", () => number>>
export type Moment = Readonly<Record<keyof Clocks, number>>

/**
 * Whether the server still has its leases. After five seconds of silence, another server may have
 * them. The database refuses charges then, but admissions do not query it, so they depend on this check.
 *
 * The monotonic clock of a suspended machine may stand still while the time of day moves on, so both must have moved
 * alike. If an operator sets the time of day, calls are decided in the database until the next heartbeat.
 */
export const trackLeaseTrust = (clocks: Clocks) => {
  const now = (): Moment => ({ monotonic: clocks.monotonic(), timeOfDay: clocks.timeOfDay() })
  let heardAt = now()
  return {
    now,
    /** `since` is when the server began to send the statement that succeeded. */
    renew: (since: Moment): void => {
      heardAt = since
    },
    isTrusted: (): boolean => {
      const elapsed = clocks.monotonic() - heardAt.monotonic
      const drift = clocks.timeOfDay() - heardAt.timeOfDay - elapsed
      return elapsed < maxSilence && Math.abs(drift) < maxDrift
    }
  }
}

export type LeaseTrust = ReturnType<typeof trackLeaseTrust>

/**
 * Whether what the server knows of its leases is still true. It is for a while after the database has heard of the server; from
 * five seconds of silence on another server may have the leases, and charges are refused then, but admissions are not asked of
 * the database.
 *
 * The monotonic clock of a machine that was suspended may have stood still meanwhile, while the time of day has moved. So both
 * must have moved alike. A time of day that is set by an operator costs a beat: calls are decided in the database until then.
 */

/** Milliseconds since the database has heard of the server. */
const longestTrust = 3_500
/** Milliseconds by which the time of day may move further than the other clock, or less far. Both together are less than five seconds. */
const longestDrift = 1_000

export interface Clocks {
  readonly monotonic: () => number
  readonly timeOfDay: () => number
}

export interface Moment {
  readonly monotonic: number
  readonly timeOfDay: number
}

export const leaseTrust = (clocks: Clocks) => {
  const now = (): Moment => ({ monotonic: clocks.monotonic(), timeOfDay: clocks.timeOfDay() })
  let heardAt = now()
  return {
    now,
    /** `since` is when the server began to say what the database has heard. */
    renew: (since: Moment): void => {
      heardAt = since
    },
    isTrusted: (): boolean => {
      const elapsed = clocks.monotonic() - heardAt.monotonic
      const drift = clocks.timeOfDay() - heardAt.timeOfDay - elapsed
      return elapsed < longestTrust && Math.abs(drift) < longestDrift
    }
  }
}

export type LeaseTrust = ReturnType<typeof leaseTrust>

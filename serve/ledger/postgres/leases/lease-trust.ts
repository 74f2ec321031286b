/**
 * Whether what the server knows of its leases is still true. After five seconds of silence, another server may have
 * them. Charges are refused then, but admissions do not ask the database, so they depend on this check.
 *
 * The monotonic clock of a suspended machine may stand still while the time of day moves on, so both must have moved
 * alike. If an operator sets the time of day, calls are decided in the database until the next beat.
 */
/** Milliseconds since the database last heard from the server. */
const maxSilence = 3_500
/** Milliseconds by which the two clocks may drift apart. Both limits together are less than five seconds. */
const maxDrift = 1_000

export type Clocks = Readonly<Record<"monotonic" | "timeOfDay", () => number>>
export type Moment = Readonly<Record<keyof Clocks, number>>

export const trackLeaseTrust = (clocks: Clocks) => {
  const now = (): Moment => ({ monotonic: clocks.monotonic(), timeOfDay: clocks.timeOfDay() })
  let heardAt = now()
  return {
    now,
    /** `since` is when the server began to send what the database has received. */
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

/**
 * Checks the time of an event's signature against this server's clock, so that a recorded event cannot be replayed
 * later.
 */

/** Seconds in the past or the future. */
export const tolerance = 300

/**
 * The error for a signature made at `seconds` (Unix time); undefined if the time is accepted. `now` is in milliseconds.
 */
export const wrongTime = (seconds: number, now: number): string | undefined => {
  const age = Math.round(now / 1000 - seconds)
  if (Math.abs(age) <= tolerance) return undefined
  return `The event was signed ${Math.abs(age)} seconds ${age > 0 ? "ago" : "in the future"}, and at most ${tolerance} are accepted: check the server's clock.`
}

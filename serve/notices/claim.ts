/**
 * Of several servers that share the console's tables, one sends: it claims a row, renews the claim each time, and gives it
 * up when it stops, or cannot reach the webhook or the mail server: perhaps another can. If it is killed, another server
 * takes over when the claim has expired.
 */
import { randomUUID } from "node:crypto"
import { Clock, Duration, Effect, Schedule } from "effect"
import { ConsoleDatabase } from "../persistence/index.ts"

const interval = Duration.minutes(1)
/** Longer than the interval and everything that a check sends together. */
const claimed = Duration.minutes(3)

/** A claim that seems to expire later was made by a server whose clock is wrong, and which may be gone. */
const maxRemaining = Duration.hours(1)

const claim = `
  insert into console.notifier as held (id, server, expires_at) values ($1, $2, $3)
  on conflict (id) do update set server = excluded.server, expires_at = excluded.expires_at
  where held.server = $2 or held.expires_at <= $4 or held.expires_at > $5
  returning id`
const giveUp = "delete from console.notifier where id = $1 and server = $2"

type Kind = "accounts" | "freshness"

const isoTime = (millis: number) => new Date(millis).toISOString()

/** Returns whether this server sends: it has the claim, or that of another has expired. */
export const takeClaim = Effect.fnUntraced(function* (kind: Kind, server: string) {
  const { run } = yield* ConsoleDatabase
  const now = yield* Clock.currentTimeMillis
  const after = (time: Duration.Duration) => isoTime(now + Duration.toMillis(time))
  return (yield* run(claim, [kind, server, after(claimed), isoTime(now), after(maxRemaining)])) > 0
})

export const dropClaim = Effect.fnUntraced(function* (kind: Kind, server: string) {
  const { run } = yield* ConsoleDatabase
  yield* Effect.ignore(run(giveUp, [kind, server]))
})

/** Checks now and then once a minute, until the scope ends. `check` gets the id of this server, and handles its failures. */
export const checkEachMinute = Effect.fnUntraced(function* <R>(
  kind: Kind,
  check: (server: string) => Effect.Effect<void, never, R>
) {
  const server = randomUUID()
  yield* Effect.addFinalizer(() => dropClaim(kind, server)) // after the last check, which is forked below
  yield* Effect.forkScoped(Effect.repeat(check(server), Schedule.spaced(interval)))
})

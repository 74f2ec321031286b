/**
 * Checks the password of a person. Failures make later attempts wait, and are logged for the operator, without the
 * typed e-mail address.
 */
import { Clock, Effect } from "effect"
import type { ConsoleUnavailable } from "../persistence/index.ts"
import type { Attempt } from "./attempts.ts"
import type { CallerTrust, Passwords } from "./password.ts"
import { type Person, TooManyAttempts, WrongCredentials } from "./person.ts"

interface Claim {
  readonly action: "sign-in" | "change of the password"
  readonly password: string
  readonly trust: CallerTrust
  /** The caller's network address, for the log; absent for a person who is signed in. */
  readonly caller?: string
  readonly begin: (now: number) => Attempt | TooManyAttempts
}

const logFailure = ({ action, caller }: Claim, known: Person | undefined, wait_seconds: number) =>
  Effect.annotateLogs(
    Effect.logInfo(`${action} refused: wrong credentials${wait_seconds === 0 ? "" : "; the next attempt has to wait"}`),
    {
      ...(known !== undefined && { person_id: known.id }),
      ...(caller !== undefined && { caller }),
      ...(wait_seconds > 0 && { wait_seconds })
    }
  )

export const makePasswordCheck = (passwords: Passwords["Service"]) =>
  /** Returns the claimed person if the password is correct. For an unknown person, no password is correct. */
  Effect.fnUntraced(function* <P extends Person & { readonly password: string }>(
    claim: Claim,
    findPerson: Effect.Effect<P | undefined, ConsoleUnavailable>
  ) {
    const attempt = claim.begin(yield* Clock.currentTimeMillis)
    if (attempt instanceof TooManyAttempts) return yield* attempt
    const { isCorrect, known } = yield* Effect.gen(function* () {
      const known = yield* findPerson
      return { known, isCorrect: yield* passwords.isCorrect(claim.password, known?.password, claim.trust) }
    }).pipe(Effect.onError(() => Effect.map(Clock.currentTimeMillis, attempt.withdraw)))
    const now = yield* Clock.currentTimeMillis
    if (known !== undefined && isCorrect) {
      attempt.succeed(now)
      return known
    }
    yield* logFailure(claim, known, attempt.secondsToWait(now))
    return yield* new WrongCredentials()
  })

/**
 * Checks the password of a person. Failures make later attempts wait, and are logged for the operator, without the
 * e-mail address that was typed.
 */
import { Clock, Effect } from "effect"
import type { ConsoleUnavailable } from "../persistence/index.ts"
import type { Attempt } from "./attempts.ts"
import type { CallerTrust, Passwords } from "./password.ts"
import { type Person, TooManyAttempts, WrongCredentials } from "./people.ts"

interface Claim {
  readonly what: "sign-in" | "change of the password"
  readonly password: string
  readonly trust: CallerTrust
  /** The caller's network address, for the log; absent for a person who is signed in. */
  readonly caller?: string
  readonly begin: (now: number) => Attempt | TooManyAttempts
}

const logFailure = ({ caller, what }: Claim, known: Person | undefined, waitSeconds: number) =>
  Effect.annotateLogs(
    Effect.logInfo(
      waitSeconds === 0 ? `${what} refused: wrong password` : `${what} refused: wrong password; the next has to wait`
    ),
    {
      ...(known !== undefined && { person_id: known.id }),
      ...(caller !== undefined && { caller }),
      ...(waitSeconds > 0 && { wait_seconds: waitSeconds })
    }
  )

export const makePasswordCheck = (passwords: Passwords["Service"]) =>
  /** Returns the claimed person if the password is right. For an unknown person, no password is right. */
  Effect.fnUntraced(function* <P extends Person & { readonly password: string }>(
    claim: Claim,
    findPerson: Effect.Effect<P | undefined, ConsoleUnavailable>
  ) {
    const attempt = claim.begin(yield* Clock.currentTimeMillis)
    if (attempt instanceof TooManyAttempts) return yield* attempt
    const { isRight, known } = yield* Effect.gen(function* () {
      const known = yield* findPerson
      return { known, isRight: yield* passwords.isCorrect(claim.password, known?.password, claim.trust) }
    }).pipe(Effect.onError(() => Effect.map(Clock.currentTimeMillis, attempt.withdrawn)))
    const now = yield* Clock.currentTimeMillis
    if (known !== undefined && isRight) {
      attempt.succeeded(now)
      return known
    }
    yield* logFailure(claim, known, attempt.waitAfter(now))
    return yield* new WrongCredentials()
  })

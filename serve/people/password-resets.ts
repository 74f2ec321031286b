/**
 * Forgotten passwords: mails a link to the person who signs in with an address. The answer to a request is the same for
 * every address, and is sent before Larder looks for a person, so its time reveals nothing either.
 */
import { Clock, Duration, Effect, Semaphore } from "effect"
import { type Mailer, mayHaveArrived, parseEmail } from "../mail/index.ts"
import { logChange } from "../persistence/index.ts"
import { makeAttempts } from "./attempts.ts"
import { describeReset } from "./logged-changes.ts"
import { mailLink } from "./mailed-links.ts"
import { People } from "./people.ts"
import { InvalidEmail, type Person, TooManyAttempts } from "./person.ts"

/** By then the answer is sent: a transaction of SQLite blocks everything else in this process. */
const delay = Duration.millis(200)
const maxConcurrentMails = 2
/** Further requests are dropped, and logged once until all others are done: people ask again. */
const maxPending = 1_000

/** The links lead to `consoleUrl`, which is not an address that a request has named. */
export const openPasswordResets = Effect.fnUntraced(function* (mailer: Mailer, consoleUrl: () => string) {
  const people = yield* People
  const scope = yield* Effect.scope
  const workers = yield* Semaphore.make(maxConcurrentMails)
  const attempts = makeAttempts() // its own: requests for an address must not delay its sign-ins
  let pending = 0
  let hasWarned = false
  const done = () => {
    pending--
    if (pending === 0) hasWarned = false
  }

  const mailReset = Effect.fnUntraced(function* (person: Person) {
    const reset = yield* logChange(people.resetOnRequest(person), "password reset requested", describeReset)
    yield* mailLink(mailer, "requested_reset", person.email, reset, consoleUrl()).pipe(
      Effect.onError((cause) => (mayHaveArrived(cause) ? Effect.void : Effect.ignore(people.withdraw(reset.id))))
    )
  })

  const answer = Effect.fnUntraced(
    function* (email: string) {
      yield* Effect.sleep(delay)
      const person = yield* people.withEmail(email)
      if (person === undefined) return
      if (yield* people.withinMailLimit(email, workers.withPermit(mailReset(person)))) return
      yield* Effect.logInfo("no further link is mailed to this person today", { person_id: person.id })
    },
    Effect.catchTag("MailNotDelivered", ({ message }) =>
      Effect.logWarning(`a link to choose a password was not mailed: ${message}`)
    ),
    Effect.catchCause((cause) => Effect.logError("a link to choose a password could not be mailed", cause)),
    Effect.ensuring(Effect.sync(done))
  )

  return {
    /** `printed`: links are printed by `start`. */
    delivery: mailer.delivery,
    /** `address` is the caller's network address. Returns at once; the mail follows, when the returned fiber ends. */
    request: Effect.fn("PasswordResets.request")(function* (typed: string, address: string) {
      const email = parseEmail(typed)
      if (email === undefined) return yield* new InvalidEmail()
      // never reported as successful: every request counts
      const attempt = attempts.beginUnknown(email, address, yield* Clock.currentTimeMillis)
      if (attempt instanceof TooManyAttempts) return yield* attempt
      if (pending >= maxPending) {
        if (!hasWarned)
          yield* Effect.logWarning("too many requests for new passwords at the same time: some are dropped")
        hasWarned = true
        return undefined
      }
      pending++
      return yield* Effect.forkIn(answer(email), scope)
    })
  }
})
export type PasswordResets = Effect.Success<ReturnType<typeof openPasswordResets>>

/**
 * Mails the people of accounts once a minute what has become wrong with its money. A mail is recorded after the mail server
 * has accepted it: if this server is killed in between, the same mail is sent again, with the same Message-ID.
 */
import { Clock, Duration, Effect } from "effect"
import { listAccountAlerts } from "../billing/index.ts"
import type { Mailer, MailNotDelivered } from "../mail/index.ts"
import { People } from "../people/index.ts"
import { ConsoleDatabase } from "../persistence/index.ts"
import { compareAlerts } from "./account-mails.ts"
import { checkEachMinute, dropClaim, takeClaim } from "./claim.ts"
import { readNotified, recordNotified } from "./notified-tables.ts"

/** No mail begins later than this after the start of a check, so that the claim does not expire: the next check goes on. */
const maxDuration = Duration.minutes(1)

/**
 * When a person whose mail was not delivered gets it next. A mailbox that no longer exists is tried daily: providers block
 * senders that try such addresses often. A slow mail server may deliver each mail that it has not answered, so those are
 * repeated hourly. After other failures, the next check begins with other people.
 */
const pauses: Readonly<Record<MailNotDelivered["reason"], Duration.Duration>> = {
  refused: Duration.days(1),
  deferred: Duration.minutes(5),
  unavailable: Duration.minutes(5),
  unanswered: Duration.hours(1)
}

export const makeAccountMails = (mailer: Mailer, consoleUrl: () => string) => {
  /** Unix milliseconds by the id of a person. A restart forgets them, and tries at once. */
  const pausedUntil = new Map<string, number>()

  /** Returns why a mail was not delivered, if one was not. */
  const sendAll = Effect.fnUntraced(function* (mails: ReturnType<typeof compareAlerts>["mails"], server: string) {
    const database = yield* ConsoleDatabase
    const start = yield* Clock.currentTimeMillis
    const problems: Array<{ readonly person_id: string; readonly message: string }> = []
    for (const { mail, person_id, remember } of mails) {
      const now = yield* Clock.currentTimeMillis
      if (now > start + Duration.toMillis(maxDuration)) break
      if ((pausedUntil.get(person_id) ?? 0) > now) continue
      const result = yield* Effect.result(mailer.send(mail))
      if (result._tag === "Success") {
        const notified_at = new Date(yield* Clock.currentTimeMillis).toISOString()
        yield* recordNotified(
          database,
          remember.map((row) => ({ ...row, notified_at })),
          []
        )
        pausedUntil.delete(person_id)
        continue
      }
      const { message, reason } = result.failure
      pausedUntil.set(person_id, now + Duration.toMillis(pauses[reason]))
      problems.push({ person_id, message })
      if (reason === "unavailable") yield* dropClaim("accounts", server)
      if (reason === "unavailable" || reason === "unanswered") break
    }
    return problems
  })

  /** Sends what has changed if this server has the claim, or if the claim of another has expired. */
  return Effect.fnUntraced(function* (server: string) {
    if (!(yield* takeClaim("accounts", server))) return
    const database = yield* ConsoleDatabase
    const { accounts, alerts } = yield* listAccountAlerts()
    const notified = yield* readNotified(database, "accounts")
    const people = (yield* People.use((people) => people.all)).filter(({ account_id }) => accounts.has(account_id))
    const now = yield* Clock.currentTimeMillis
    const { ended, forget, mails } = compareAlerts(alerts, people, notified, consoleUrl(), now)
    if (ended.length + forget.length > 0) yield* recordNotified(database, ended, forget)
    const [first, ...others] = yield* sendAll(mails, server)
    if (first === undefined) return
    const more = others.length === 0 ? "" : ` ${others.length} more were not delivered either.`
    yield* Effect.annotateLogs(Effect.logWarning(`a mail to a customer was not delivered: ${first.message}${more}`), {
      person_id: first.person_id
    })
  })
}

/** A failure is logged, and the next check sends the same. */
export const mailAccounts = Effect.fnUntraced(function* (mailer: Mailer, consoleUrl: () => string) {
  const check = makeAccountMails(mailer, consoleUrl)
  yield* checkEachMinute("accounts", (server) =>
    check(server).pipe(
      Effect.catchCause((cause) => Effect.logWarning("the balances of accounts could not be checked for mails", cause))
    )
  )
})

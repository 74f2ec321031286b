/**
 * Compares the alerts of accounts with what each person was last told, and makes a mail of what is new: one per person,
 * even if several things have changed. What is no longer wrong is only stored, so that its next occurrence is new.
 */
import { createHash } from "node:crypto"
import type { AccountAlert } from "../billing/index.ts"
import type { Mail } from "../mail/index.ts"
import type { Person } from "../people/index.ts"
import { accountPrefix, type NotifiedState } from "./notified-tables.ts"

type Recipient = Pick<Person, "account_id" | "email" | "id">
type State = Pick<NotifiedState, "state" | "subject">

interface AccountMail {
  readonly person_id: string
  readonly mail: Mail
  /** To be stored when the mail is accepted. */
  readonly remember: ReadonlyArray<State>
}

interface Comparison {
  readonly mails: ReadonlyArray<AccountMail>
  /** Rows of what is no longer wrong. They keep the time of the last mail. */
  readonly ended: ReadonlyArray<NotifiedState>
  /** Rows of people who were removed, and of accounts that no longer want mails, an hour after their last mail. */
  readonly forget: ReadonlyArray<string>
}

const endedState = "ended"
const topics: ReadonlyArray<AccountAlert["topic"]> = ["balance", "stop", "ceiling"]
/**
 * The least time between two mails to a person about the balance, or about a ceiling. Otherwise one person could fill the
 * mailboxes of all others by choosing another amount, or by switching auto-recharge off and on, repeatedly. A mail
 * within that hour waits. That auto-recharge stopped is mailed immediately, because no setting causes it.
 */
const minInterval = 60 * 60_000
const subjectOf = ({ account_id, id }: Recipient, topic: AccountAlert["topic"]) =>
  `${accountPrefix}${account_id} ${topic} ${id}`

/** Mail programs break long lines, but not all of them do. */
const wrap = (text: string) => text.replace(/(?![^\n]{1,78}$)([^\n]{1,78})\s/g, "$1\n")

const makeMail = (
  to: string,
  id: string,
  alerts: readonly [AccountAlert, ...Array<AccountAlert>],
  consoleUrl: string
) => {
  const [{ account, subject }] = alerts
  const texts = alerts.flatMap(({ path, text }) => [wrap(text), `${consoleUrl}${path}`, ""])
  const about = wrap(`This is about the account ${account.name} at the Larder console, ${new URL(consoleUrl).host}.`)
  const reason = wrap(
    "You get this mail because you sign in to this account. The page Billing has the balance below which it is sent, and auto-recharge."
  )
  return { to, id, subject, text: [about, "", ...texts, reason, ""].join("\n") } satisfies Mail
}

export const compareAlerts = (
  alerts: ReadonlyArray<AccountAlert>,
  people: ReadonlyArray<Recipient>,
  notified: ReadonlyArray<NotifiedState>,
  consoleUrl: string,
  /** Unix milliseconds. */
  now: number
): Comparison => {
  const rows = new Map(notified.map((row) => [row.subject, row]))
  const isRecent = (row: NotifiedState | undefined) =>
    row !== undefined && Date.parse(row.notified_at) > now - minInterval
  const alertsOf = Map.groupBy(alerts, ({ account }) => account.id)
  const mails: Array<AccountMail> = []
  const ended: Array<NotifiedState> = []
  for (const person of people) {
    const own = alertsOf.get(person.account_id) ?? []
    const [first, ...others] = own.filter(({ state, topic }) => {
      const row = rows.get(subjectOf(person, topic))
      return row?.state !== state && (topic === "stop" || !isRecent(row))
    })
    if (first !== undefined) {
      const remember = [first, ...others].map(({ state, topic }) => ({ subject: subjectOf(person, topic), state }))
      // differs from the mail about an earlier occurrence of the same
      const facts = remember.map(({ state, subject }) => [subject, rows.get(subject)?.notified_at ?? null, state])
      const id = `account-${createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 32)}`
      mails.push({ person_id: person.id, remember, mail: makeMail(person.email, id, [first, ...others], consoleUrl) })
    }
    for (const topic of topics) {
      const row = rows.get(subjectOf(person, topic))
      const isOver = row !== undefined && row.state !== endedState && !own.some((alert) => alert.topic === topic)
      if (isOver) ended.push({ ...row, state: endedState })
    }
  }
  const known = new Set(people.flatMap((person) => topics.map((topic) => subjectOf(person, topic))))
  const forgettable = [...rows.values()].filter((row) => !known.has(row.subject) && !isRecent(row))
  return { mails, ended, forget: forgettable.map(({ subject }) => subject) }
}

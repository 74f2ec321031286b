/**
 * Mails with one-time links. At most three within a day go to one address, so that no one can fill a mailbox through
 * Larder. A mail that was certainly not delivered does not count.
 */
import { Clock, Effect } from "effect"
import { timestampOf } from "../ledger/index.ts"
import { type Mailer, mayHaveArrived } from "../mail/index.ts"
import type { Statements } from "../persistence/index.ts"
import type { NewInvitation } from "./person.ts"

const dayMs = 24 * 60 * 60_000
export const maxMailsPerDay = 3

const freeSlots = "delete from console.mailed_link where mailed_at <= $1"
/** Of several servers that take the same slot, one succeeds. */
const takeSlot = `
  insert into console.mailed_link (email, slot, mailed_at) values ($1, $2, $3)
  on conflict (email, slot) do nothing
  returning slot`

const findSlot = Effect.fnUntraced(function* ({ run }: Statements, email: string) {
  const now = yield* Clock.currentTimeMillis
  yield* run(freeSlots, [timestampOf(now - dayMs)])
  for (let slot = 1; slot <= maxMailsPerDay; slot++) {
    if ((yield* run(takeSlot, [email, slot, timestampOf(now)])) > 0) return slot
  }
  return undefined
})

/** Does `work`, which mails the address. Returns whether it did: not if three mails have gone there within a day. */
export const withinMailLimit = Effect.fnUntraced(function* <A, E, R>(
  database: Statements,
  email: string,
  work: Effect.Effect<A, E, R>
) {
  const slot = yield* findSlot(database, email)
  if (slot === undefined) return false
  const giveBack = database.run("delete from console.mailed_link where email = $1 and slot = $2", [email, slot])
  yield* Effect.onError(work, (cause) => (mayHaveArrived(cause) ? Effect.void : Effect.ignore(giveBack)))
  return true
})

/** `consoleUrl` has no trailing slash. */
export const buildLink = (consoleUrl: string, token: string) => `${consoleUrl}/invitation/${token}`

const kinds = {
  invitation: {
    subject: "Your invitation to Larder",
    describe: (host: string) => [
      `You are invited to the Larder console at ${host}.`,
      "Open the link below and choose a password. From then on, you sign in with",
      "this e-mail address."
    ],
    closing: [
      "You get this mail because an operator of the console entered your address.",
      "If you did not expect it, ignore it."
    ]
  },
  requested_reset: {
    subject: "Choose a new password for Larder",
    describe: (host: string) => [
      "Someone asked for a new password for the Larder console at",
      `${host}, where you sign in with this e-mail address.`,
      "If that was you, open the link below and choose one. You are then signed out",
      "everywhere else."
    ],
    closing: ["If that was not you, ignore this mail: your password stays as it is."]
  },
  reset: {
    subject: "Choose a new password for Larder",
    describe: (host: string) => [
      "The operator has reset your password for the Larder console at",
      `${host}, where you sign in with this e-mail address.`,
      "The old one no longer works. Open the link below and choose a new one."
    ],
    closing: ["If you did not ask for this, ask the operator why it was done."]
  }
} as const

const formatMinute = (timestamp: string) => `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)} UTC`

/** The mail has no facts about the account: the address may be another person's. */
export const mailLink = (
  mailer: Mailer,
  kind: keyof typeof kinds,
  to: string,
  { expires_at, id, token }: NewInvitation,
  consoleUrl: string
) => {
  const { closing, describe, subject } = kinds[kind]
  const lines = [
    ...describe(new URL(consoleUrl).host),
    "",
    buildLink(consoleUrl, token),
    "",
    `The link works once, until ${formatMinute(expires_at)}.`,
    "",
    ...closing
  ]
  return mailer.send({ to, subject, id: id.replace("_", "-"), text: `${lines.join("\n")}\n` })
}

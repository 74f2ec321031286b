/**
 * What a command says if its answer was lost: a change may have been made, and repeating the command may make it a second
 * time. The advice says how to look, and what a repetition does.
 */
import { type operations, ServerUnreachable } from "../../ledger/index.ts"
import type { peopleOperations } from "../../people/index.ts"

/** How long a command waits for an answer, or for a sign that one is coming. */
export const maxSilence = "30 seconds"

const lookAtEntries =
  "Check with: larder-serve ledger export --account ID. A command with --reference can be repeated: it books once."
const lookAtKeys = "Check with: larder-serve keys list --account ID."
const lookAtPeople = "Check with: larder-serve people list --account ID."

/** Null for an operation that only reads. */
const advice = {
  createAccount: "Check with: larder-serve accounts list. Repeated, the command creates another account with 5 USD.",
  listAccounts: null,
  account: null,
  suspendAccount: "Check with: larder-serve accounts list. The command can be repeated.",
  resumeAccount: "Check with: larder-serve accounts list. The command can be repeated.",
  creditAccount: lookAtEntries,
  debitAccount: lookAtEntries,
  book: lookAtEntries,
  createKey: `${lookAtKeys} If the key is there, revoke it and create another one: it cannot be shown again.`,
  listKeys: null,
  editKey: `${lookAtKeys} The command can be repeated.`,
  rotateKey: `${lookAtKeys} If the key was replaced, the former one is accepted until its overlap ends; replacing it again ends it at once.`,
  revokeKey: `${lookAtKeys} The command can be repeated.`,
  usage: null,
  summedUsage: null,
  entriesBefore: null,
  entriesOf: null,
  verify: null,
  backup: "Check whether the file is there: it is complete, or missing.",
  invitePerson: `${lookAtPeople} Repeated for the same e-mail address, the command replaces the link; withdraw the links that you did not send.`,
  withdrawInvitation: lookAtPeople,
  listPeople: null,
  resetPerson: `${lookAtPeople} Repeated, the command replaces the link.`,
  removePerson: lookAtPeople
} satisfies Readonly<Record<keyof typeof operations | keyof typeof peopleOperations | "entriesOf", string | null>>

const adviceFor = new Map<string, string | null>(Object.entries(advice))

/** `problem` is what happened, in a sentence. */
export const unanswered = (operation: string, problem: string): ServerUnreachable => {
  const next = adviceFor.get(operation) ?? null
  return new ServerUnreachable({
    problem: next === null ? problem : `${problem} The command may have been carried out. ${next}`
  })
}

export const silent = (operation: string, asked: "server" | "database"): ServerUnreachable =>
  unanswered(operation, `The ${asked} has not answered for ${maxSilence}.`)

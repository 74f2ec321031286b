/**
 * Recently sent forms: a form with a random string is executed once, even if it is sent again. They are stored in the
 * memory of one server: a restart loses them, and other servers do not have them.
 */
import { hash } from "node:crypto"
import { randomString } from "../../ledger/index.ts"
import { hiddenInput, type SentForm } from "./form.ts"

const retentionMilliseconds = 600_000
const maxForms = 10_000

/** The random string of a new form. */
export const submissionInput = () => hiddenInput("submission", randomString(24))

interface Sender {
  readonly account: { readonly id: string }
  readonly form: SentForm
  readonly now: number
}

export const makeSentForms = () => {
  /** Time of sending by form, oldest first. */
  const sent = new Map<string, number>()
  const removeOld = (now: number) => {
    for (const [form, at] of sent) {
      if (now - at < retentionMilliseconds && sent.size <= maxForms) return
      sent.delete(form)
    }
  }
  return {
    /**
     * On the first call, records the form as sent and returns a function that undoes it; undefined on later calls. A
     * form without a random string always counts as sent for the first time.
     */
    recordFirst: ({ account, form, now }: Sender, content: unknown): { readonly undo: () => void } | undefined => {
      const submission = form.text("submission")
      if (submission === "") return { undo: () => {} }
      const key = hash("sha256", JSON.stringify([account.id, submission, content]), "base64")
      const at = sent.get(key)
      if (at !== undefined && now - at < retentionMilliseconds) return undefined
      sent.delete(key) // so that the key is inserted at the end again
      sent.set(key, now)
      removeOld(now)
      return { undo: () => sent.delete(key) }
    }
  }
}

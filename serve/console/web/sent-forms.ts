/**
 * Recently sent forms: a form that carries a random text is executed once, however often it is sent. Kept in memory, so
 * other servers, and this one after a restart, do not know them.
 */
import { hash } from "node:crypto"

const keptFor = 600_000
const mostKept = 10_000

export const makeSentForms = () => {
  /** Time of sending by form, oldest first. */
  const sent = new Map<string, number>()
  const forgetOld = (now: number) => {
    for (const [form, at] of sent) {
      if (now - at < keptFor && sent.size <= mostKept) return
      sent.delete(form)
    }
  }
  return {
    /** On the first call, records the form as sent and returns a function to undo that; undefined on later calls. */
    first: (form: ReadonlyArray<unknown>, now: number): { readonly takeBack: () => void } | undefined => {
      const key = hash("sha256", JSON.stringify(form), "base64")
      const at = sent.get(key)
      if (at !== undefined && now - at < keptFor) return undefined
      sent.delete(key) // so that the key is inserted at the end again
      sent.set(key, now)
      forgetOld(now)
      return { takeBack: () => sent.delete(key) }
    }
  }
}

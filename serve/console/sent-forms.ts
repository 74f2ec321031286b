/**
 * Which forms were sent a short while ago: a form that carries a random text does what it asks for once, however often it is
 * sent. In memory: another server, and this one after a restart, know nothing of them.
 */
import { hash } from "node:crypto"

const keptFor = 600_000
const mostKept = 10_000

export const makeSentForms = () => {
  /** When each was sent, the oldest first. */
  const sent = new Map<string, number>()
  const forgetOld = (now: number) => {
    for (const [form, at] of sent) {
      if (now - at < keptFor && sent.size <= mostKept) return
      sent.delete(form)
    }
  }
  return {
    /** What is sent for the first time counts as sent from now on, and gets what takes that back; undefined afterwards. */
    first: (form: ReadonlyArray<unknown>, now: number): { readonly takeBack: () => void } | undefined => {
      const key = hash("sha256", JSON.stringify(form), "base64")
      const at = sent.get(key)
      if (at !== undefined && now - at < keptFor) return undefined
      sent.delete(key) // what is set anew goes to the end
      sent.set(key, now)
      forgetOld(now)
      return { takeBack: () => sent.delete(key) }
    }
  }
}

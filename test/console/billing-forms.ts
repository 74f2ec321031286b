/** The forms about money, and the way over the processor's page, as a person goes it. */
import { Simulator } from "@larder/serve/billing"
import { expect } from "vitest"
import { type SignedIn, type SpendingConsole, unescaped } from "../support/console/spending-console.ts"

/** The text behind the field's name: what a person reads beside it. */
export const errorAt = (html: string, name: string) =>
  unescaped(new RegExp(`<p class="error" id="${name}-error">([^<]*)</p>`).exec(html)?.[1] ?? "")
export const valueAt = (html: string, name: string) =>
  unescaped(new RegExp(`<input id="${name}"[^>]*?value="([^"]*)"`, "s").exec(html)?.[1] ?? "")
export const hidden = (html: string, name: string) =>
  unescaped(new RegExp(`<input type="hidden" name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? "")

/** Everything that the forms of a page carry unseen. */
export const hiddenIn = (html: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      unescaped(value)
    ])
  )

/** Of the page's content: what its buttons are called. */
export const buttonsOf = (html: string) =>
  [...html.replace(/<header.*<\/header>/s, "").matchAll(/<button[^>]*>([^<]*)<\/button>/g)].map(([, text]) => text)

export const primaryButtonsOf = (html: string) =>
  [...html.matchAll(/<button class="button primary"[^>]*>([^<]*)<\/button>/g)].map(([, text]) => text)

export const payingByCard = (console: SpendingConsole) => {
  /** As far as the processor's page: what the customer can do there. */
  const beginByCard = async (who: SignedIn, amount: string) => {
    const review = await who.browser.get(`/billing/top-up?amount=${amount}`)
    const left = await who.browser.post("/billing/top-up", {
      amount: hidden(review.text, "amount"),
      submission: hidden(review.text, "submission"),
      pay_with: "new_card"
    })
    expect(left.status).toBe(303)
    const reference = new URL(left.headers.get("location") ?? "").pathname.split("/").at(-1) ?? ""
    const page = await console.run(Simulator.use((simulator) => simulator.payment(reference)))
    const back = new URL(page?.payment.cancel_url ?? "")
    return {
      payment_id: page?.payment.payment_id ?? "",
      back: back.pathname + back.search,
      pay: (number: string) =>
        console.run(Simulator.use((simulator) => simulator.pay(reference, { number, expires: "12/40", cvc: "123" })))
    }
  }

  /** From the amount over the processor's page back to the console. */
  const payByCard = async (who: SignedIn, amount: string, number: string) => {
    const paid = await (await beginByCard(who, amount)).pay(number)
    if (paid.kind !== "paid") throw new Error(`the simulator says ${JSON.stringify(paid)}`)
    const back = new URL(paid.url)
    return who.browser.get(back.pathname + back.search)
  }

  return { beginByCard, payByCard }
}

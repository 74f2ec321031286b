import { assert, describe, it } from "@effect/vitest"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { newRequest, openSimulator, pageDetails, validCard } from "@larder/test/support/serve/simulator.ts"
import { Effect, Redacted } from "effect"
import { noFaults } from "../../billing/index.ts"
import { makeForm } from "../web/form.ts"
import type { FormContext, PageResult } from "../web/page.ts"
import { simulatorPages } from "./control-pages.ts"

const formatResult = (result: PageResult) => {
  if (result.kind === "redirect") return Effect.succeed(`redirects to ${result.to}: ${result.flash?.text}`)
  return result.kind === "page"
    ? Effect.promise(async () => `${result.status} ${result.title}\n${await result.body}`)
    : Effect.die(new Error(`a result of the kind ${result.kind}`))
}

const openPages = Effect.gen(function* () {
  const simulator = yield* openSimulator
  const pages = simulatorPages(simulator)
  const { reference } = yield* simulator.processor.checkout({ ...newRequest("pay_1"), ...pageDetails })
  yield* simulator.pay(reference, validCard)
  const visit = (path: string, fields?: Record<string, string>) => {
    const page = pages.find((candidate) => candidate.path === path)
    const context: FormContext = {
      person: { id: "person_1", account_id: "acct_1", email: "ada@example.test", is_operator: true },
      account: {
        id: "acct_1",
        name: "Demo",
        balance_credits: 5000,
        created_at: "2026-10-01T00:00:00.000Z",
        suspended_at: null
      },
      url: new URL(path, "http://127.0.0.1:9"),
      params: { reference },
      console: "http://127.0.0.1:9",
      api: "http://127.0.0.1:8",
      sendsMail: false,
      now: 0,
      session: Redacted.make("not a session"),
      formOwner: "the owner of the form",
      form: makeForm(new URLSearchParams(fields))
    }
    const work = fields === undefined ? page?.get?.(context) : page?.post?.(context)
    return Effect.flatMap(work ?? Effect.die(new Error("no such page")), formatResult)
  }
  return { simulator, pages, reference, visit }
})
/** Shared by the tests of faults, because they change no payment. */
const withFaults = oncePerFile(openPages)
const payment = "/simulator/payments/:reference"

describe("the simulator's pages for operators", () => {
  it.live("marks every page as for operators only", () =>
    Effect.gen(function* () {
      const { pages } = yield* withFaults
      assert.isTrue(pages.every(({ operatorsOnly }) => operatorsOnly === true))
    }).pipe(Effect.scoped)
  )

  it.live("simulates faults and lists those that are simulated now", () =>
    Effect.gen(function* () {
      const { simulator, visit } = yield* withFaults
      const before = yield* visit("/simulator")
      assert.include(before, "pay_1")
      assert.include(before, "No faults are simulated now.")
      assert.notInclude(before, "Back to normal")
      const result = yield* visit("/simulator", { on: "outage", slow: "2.5" })
      assert.strictEqual(result, "redirects to /simulator: These faults are simulated from now on.")
      assert.deepStrictEqual(yield* simulator.faults, {
        outage: true,
        lose_next_answer: false,
        slow_ms: 2500
      })
      const text = yield* visit("/simulator")
      assert.match(text, /value="outage" checked/)
      assert.include(text, "Simulated now: nothing is answered, each answer takes 2.5 seconds.")
    }).pipe(Effect.scoped)
  )

  it.live("ends all faults with one button, even if the fields are invalid", () =>
    Effect.gen(function* () {
      const { simulator, visit } = yield* withFaults
      yield* visit("/simulator", { on: "lose_next_answer", slow: "1" })
      assert.match(
        yield* visit("/simulator"),
        /the answer to the next payment is lost, each answer takes 1 second\.[\s\S]*Back to normal/
      )
      const result = yield* visit("/simulator", { normal: "yes", slow: "soon" })
      assert.strictEqual(result, "redirects to /simulator: Everything is back to normal.")
      assert.deepStrictEqual(yield* simulator.faults, noFaults)
    }).pipe(Effect.scoped)
  )

  it.live.each([{ slow: "21" }, { slow: "-1" }, { slow: "soon" }])("returns 422 for %j and changes nothing", (fields) =>
    Effect.gen(function* () {
      const { simulator, visit } = yield* withFaults
      const before = yield* simulator.faults
      const text = yield* visit("/simulator", { on: "outage", ...fields })
      assert.match(text, /^422 Simulator\n/)
      assert.deepStrictEqual(yield* simulator.faults, before)
    }).pipe(Effect.scoped)
  )

  it.live("refunds a part, makes it fail, and refunds the whole payment", () =>
    Effect.gen(function* () {
      const { reference, simulator, visit } = yield* openPages
      const readRefunds = Effect.map(simulator.findPayment(reference), (view) =>
        view?.retrieved.reversed.map(({ cents, state }) => `${cents} ${state}`)
      )
      const redirectText = `redirects to /simulator/payments/${reference}`
      const hint = (cents: string) => `Leave empty to refund the remaining ${cents}.`
      assert.include(yield* visit(payment), hint("$50.00"))
      assert.strictEqual(
        yield* visit(payment, { do: "refund", amount: "12.50" }),
        `${redirectText}: The refund was made.`
      )
      assert.include(yield* visit(payment), hint("$37.50"))
      assert.match(
        yield* visit(payment, { do: "refund", amount: "100" }),
        /^422 [\s\S]*A refund of this payment must be from \$0.01 to \$37.50/
      )
      assert.match(yield* visit(payment, { do: "refund", amount: "x" }), /^422 /)
      const refund = (yield* simulator.findPayment(reference))?.retrieved.reversed[0]?.id ?? ""
      assert.include(yield* visit(payment), "Make it fail")
      assert.strictEqual(yield* visit(payment, { do: "fail", id: refund }), `${redirectText}: The refund failed.`)
      assert.match(yield* visit(payment, { do: "fail", id: refund }), /This payment has no such refund/)
      assert.notInclude(yield* visit(payment), "Make it fail")
      yield* visit(payment, { do: "refund", amount: "" })
      assert.deepStrictEqual(yield* readRefunds, ["1250 returned", "5000 taken"])
    }).pipe(Effect.scoped)
  )

  it.live("shows the same state of a payment in the list and on its page, after each refund", () =>
    Effect.gen(function* () {
      const { visit } = yield* openPages
      const readBadgesBetween = (text: string, from: string, to: string) => {
        const part = text.slice(text.indexOf(from), text.indexOf(to, text.indexOf(from)))
        return part
          .replace(/<[^>]*>/g, "")
          .replace(/\s+/g, " ")
          .trim()
      }
      const readState = Effect.gen(function* () {
        const onPage = readBadgesBetween(yield* visit(payment), "<dt>State</dt><dd>", "</dd>").replace("State", "")
        const listed = readBadgesBetween(
          yield* visit("/simulator"),
          '<td class="" role="cell" data-label="State">',
          "</td>"
        )
        assert.strictEqual(listed, onPage)
        return onPage
      })
      assert.strictEqual(yield* readState, "Paid")
      yield* visit(payment, { do: "refund", amount: "12.50" })
      assert.strictEqual(yield* readState, "Partly refunded $12.50")
      yield* visit(payment, { do: "refund", amount: "" })
      assert.strictEqual(yield* readState, "Refunded")
    }).pipe(Effect.scoped)
  )

  it.live("shows a failed refund in a quiet tone", () =>
    Effect.gen(function* () {
      const { reference, simulator, visit } = yield* openPages
      const readBadges = Effect.map(visit(payment), (text) =>
        [...text.matchAll(/badge \w+">([^<]*)/g)].map(([, badge]) => badge)
      )
      yield* visit(payment, { do: "refund", amount: "" })
      assert.deepStrictEqual(yield* readBadges, ["Refunded", "Refunded"])
      const refund = (yield* simulator.findPayment(reference))?.retrieved.reversed[0]?.id ?? ""
      yield* visit(payment, { do: "fail", id: refund })
      assert.deepStrictEqual(yield* readBadges, ["Paid", "Refund failed"])
      assert.include(yield* visit(payment), '<span class="badge quiet">Refund failed</span>')
    }).pipe(Effect.scoped)
  )

  it.live("offers no refund after a full refund", () =>
    Effect.gen(function* () {
      const { visit } = yield* openPages
      assert.include(yield* visit(payment), "Refund</button>")
      yield* visit(payment, { do: "refund", amount: "" })
      assert.notInclude(yield* visit(payment), "Refund</button>")
    }).pipe(Effect.scoped)
  )

  it.live("marks payment ids with one CSS class, in both lists and on the page of a payment", () =>
    Effect.gen(function* () {
      const { visit } = yield* openPages
      const ids = (text: string) => text.match(/<code[^>]*>pay_1</g)
      const marked = '<code class="payment-id">pay_1<'
      assert.deepStrictEqual(ids(yield* visit("/simulator")), [marked, marked])
      assert.deepStrictEqual(ids(yield* visit(payment)), [marked])
    }).pipe(Effect.scoped)
  )

  it.live("rejects an unknown action with PageNotFound, and does not find an unknown payment", () =>
    Effect.gen(function* () {
      const { simulator, visit } = yield* openPages
      const tag = (work: Effect.Effect<unknown, unknown>) => Effect.map(Effect.flip(work), String)
      assert.match(yield* tag(visit(payment, { do: "constructor" })), /PageNotFound/)
      const { pages } = yield* openPages
      assert.strictEqual(pages.length, 2)
      assert.isUndefined(yield* simulator.findPayment("sim_pay_9"))
    }).pipe(Effect.scoped)
  )
})

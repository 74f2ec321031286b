/** Payments by a person, on the processor's page and with the saved card, including during faults. Takes a minute. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, References, Result } from "effect"
import { inEachSetup, until } from "./setup.ts"

inEachSetup((name, within) => {
  describe(`a top-up with ${name}`, () => {
    it.live("books the credits once, saves the card and creates a receipt", () =>
      within(({ account_id, bookings, buy, checkBooks, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            const id = yield* buy(billing, 50_00, "good")
            const paid = yield* billing.payment(account_id, id)
            assert.deepInclude(paid, {
              kind: "top_up",
              cents: 50_00,
              credits: 50_000,
              state: "succeeded",
              problem: null
            })
            assert.deepStrictEqual(paid.card, { brand: "visa", last4: "4242" })
            assert.deepStrictEqual(
              (yield* bookings).map(({ credits, note, request_id, type }) => ({ credits, note, request_id, type })),
              [{ credits: 50_000, note: "$50.00 by card, Visa ending in 4242", request_id: id, type: "top_up" }]
            )
            const { card, recharge } = yield* billing.settings(account_id)
            assert.deepInclude(card, { brand: "visa", last4: "4242", expires: "04/2035" })
            assert.isFalse(recharge.is_on)
            const receipt = yield* billing.receipt(account_id, id)
            assert.deepStrictEqual(receipt, {
              account: { id: account_id, name: "Käse & Söhne" },
              email: null,
              payment: paid
            })
            yield* checkBooks
          })
        )
      )
    )

    it.live("books nothing for a declined card, and accepts another card on the same page", () =>
      within(({ account_id, buy, checkBooks, movements, harness, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            const id = yield* buy(billing, 50_00, "declined")
            assert.strictEqual((yield* billing.payment(account_id, id)).state, "open")
            assert.deepStrictEqual(yield* movements, [])
            yield* harness.pay(id, "owner_once")
            assert.strictEqual((yield* billing.payment(account_id, id)).state, "succeeded")
            assert.deepStrictEqual(yield* movements, [["top_up", 50_000]])
            yield* checkBooks
          })
        )
      )
    )

    it.live("books the credits if the customer never returns: by an event, or by background reconciliation", () =>
      within(({ buy, checkBooks, form, movements, harness, withBilling }) =>
        Effect.gen(function* () {
          yield* withBilling((billing) =>
            Effect.gen(function* () {
              const { request, sent } = form(10_00)
              yield* billing.topUp(request)
              yield* harness.pay(sent.payment_id, "good")
              const { body, header } = yield* harness.event(sent.payment_id)
              yield* Effect.all([billing.webhook(body, header), billing.webhook(body, header)], { concurrency: 2 })
              yield* billing.webhook(body, header)
              assert.deepStrictEqual(yield* movements, [["top_up", 10_000]])
              const secondForm = form(20_00)
              yield* billing.topUp(secondForm.request)
              yield* harness.pay(secondForm.sent.payment_id, "good")
            })
          )
          yield* withBilling(() => until(Effect.map(movements, ({ length }) => length === 2)))
          assert.deepStrictEqual(yield* movements, [
            ["top_up", 10_000],
            ["top_up", 20_000]
          ])
          yield* withBilling((billing) => buy(billing, 30_00, "good"))
          yield* checkBooks
        })
      )
    )

    it.live("expires with its page when it is not paid", () =>
      within(({ account_id, form, movements, advanceClock, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            const { request, sent } = form(10_00)
            yield* billing.topUp(request)
            yield* advanceClock(25 * 3_600_000)
            assert.strictEqual((yield* billing.payment(account_id, sent.payment_id)).state, "expired")
            assert.deepStrictEqual(yield* movements, [])
          })
        )
      )
    )

    it.live("returns the outcome when it charges the saved card", () =>
      within(({ account_id, buy, checkBooks, movements, formWithSavedCard, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            const topUpWithSavedCard = (cents: number) =>
              Effect.flatMap(formWithSavedCard(billing, cents), ({ request }) => billing.topUp(request))
            const refused = yield* Effect.flip(topUpWithSavedCard(20_00))
            assert.strictEqual(refused.message, "There is no saved card. Make one payment by card to save it.")
            yield* buy(billing, 10_00, "good")
            const result = yield* topUpWithSavedCard(20_00)
            assert.isTrue("payment" in result && result.payment.state === "succeeded")
            yield* buy(billing, 30_00, "declined_later")
            const second = yield* topUpWithSavedCard(40_00)
            assert.isTrue("payment" in second && second.payment.state === "failed" && second.payment.problem !== null)
            assert.deepStrictEqual(yield* movements, [
              ["top_up", 10_000],
              ["top_up", 20_000],
              ["top_up", 30_000]
            ])
            assert.deepStrictEqual(
              (yield* billing.payments(account_id, { before: null, limit: 10 })).map(({ cents, state }) => [
                cents,
                state
              ]),
              [
                [40_00, "failed"],
                [30_00, "succeeded"],
                [20_00, "succeeded"],
                [10_00, "succeeded"]
              ]
            )
            yield* checkBooks
          })
        )
      )
    )

    it.live("charges once for a form that is sent eight times", () =>
      within(({ buy, checkBooks, form, formWithSavedCard, harness, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            yield* buy(billing, 10_00, "good")
            const { request } = yield* formWithSavedCard(billing, 20_00)
            yield* Effect.all(
              Array.from({ length: 8 }, () => billing.topUp(request)),
              { concurrency: 8 }
            )
            assert.strictEqual(yield* harness.paid, 2)
            const other = yield* Effect.flip(billing.topUp({ ...request, cents: 21_00 }))
            assert.strictEqual(other.message, "This form was already sent with a different amount. Reload the page.")
            const page = form(30_00).request
            assert.deepStrictEqual(yield* billing.topUp(page), yield* billing.topUp(page))
            yield* checkBooks
          })
        )
      )
    )

    it.live("returns the payment when a form is sent again after it was paid, even a day later", () =>
      within(({ account_id, checkBooks, form, movements, advanceClock, harness, withBilling }) =>
        Effect.gen(function* () {
          const forms = [form(20_00), form(30_00)]
          for (const wait of [0, 25 * 3_600_000]) {
            const { request, sent } = forms.pop() ?? form(10_00)
            yield* withBilling((billing) => billing.topUp(request))
            yield* harness.pay(sent.payment_id, "good")
            yield* advanceClock(wait)
            yield* withBilling((billing) =>
              Effect.gen(function* () {
                const result = yield* billing.topUp(request)
                assert.deepInclude("payment" in result && result.payment, { id: sent.payment_id, state: "succeeded" })
                assert.strictEqual((yield* billing.payment(account_id, sent.payment_id)).state, "succeeded")
              })
            )
          }
          assert.strictEqual(yield* harness.paid, 2)
          assert.strictEqual((yield* movements).length, 2)
          yield* checkBooks
        })
      )
    )

    it.live("rejects an incomplete form, and a form that was already sent as another payment", () =>
      within(({ account_id, database, form, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            const { request } = form(20_00)
            const empty = yield* Effect.flip(billing.topUp({ ...request, submission: "" }))
            assert.strictEqual(empty.message, "The form arrived incomplete, and nothing was charged. Reload the page.")
            const two = yield* Effect.all(
              [20_00, 21_00].map((cents) => Effect.result(billing.topUp({ ...request, cents }))),
              { concurrency: 2 }
            )
            assert.deepStrictEqual(
              two.map((result) => (Result.isFailure(result) ? result.failure._tag : "accepted")).toSorted(),
              ["InvalidChoice", "accepted"]
            )
            assert.strictEqual((yield* billing.payments(account_id, { before: null, limit: 10 })).length, 1)
            const { request: second } = form(30_00)
            yield* billing.topUp(second)
            yield* database.run("update console.payment set processor = 'another' where cents = 3000")
            const elsewhere = yield* Effect.flip(billing.topUp(second))
            assert.strictEqual(
              elsewhere.message,
              "This form was already sent to another card processor. Reload the page."
            )
          })
        )
      )
    )

    it.live("charges nothing during or after an outage of the processor", () =>
      within(
        ({ account_id, buy, checkBooks, form, movements, advanceClock, formWithSavedCard, harness, withBilling }) =>
          Effect.gen(function* () {
            const open = yield* withBilling((billing) =>
              Effect.gen(function* () {
                yield* buy(billing, 10_00, "good")
                yield* harness.outage(true)
                const refused = yield* Effect.flip(billing.topUp(form(20_00).request))
                assert.strictEqual(
                  refused.message,
                  "The card processor does not respond. Nothing was charged. Try again in a moment."
                )
                const result = yield* billing.topUp((yield* formWithSavedCard(billing, 30_00)).request)
                assert.isTrue("payment" in result && result.payment.state === "open")
                return "payment" in result ? result.payment.id : ""
              })
            )
            yield* harness.outage(false)
            yield* advanceClock(16 * 60_000)
            yield* withBilling((billing) =>
              until(Effect.map(billing.payment(account_id, open), ({ state }) => state === "expired"))
            )
            assert.deepStrictEqual(yield* movements, [["top_up", 10_000]])
            yield* checkBooks
          })
      )
    )

    it.live("books a payment if the response was lost", () =>
      within(({ buy, checkBooks, movements, formWithSavedCard, harness, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            yield* buy(billing, 10_00, "good")
            const { request } = yield* formWithSavedCard(billing, 20_00)
            yield* harness.loseNextResponse
            const result = yield* billing.topUp(request)
            assert.isTrue("payment" in result && result.payment.state === "succeeded")
            assert.deepStrictEqual(yield* movements, [
              ["top_up", 10_000],
              ["top_up", 20_000]
            ])
            yield* checkBooks
          })
        )
      )
    )

    it.live("accepts 10.00 to 50,000.00 USD", () =>
      within(({ form, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            for (const cents of [9_99, 50_000_01, 10_00.5, Number.NaN]) {
              const error = yield* Effect.flip(billing.topUp(form(cents).request))
              assert.strictEqual(error.message, "The amount must be from $10.00 to $50,000.00, in whole cents.")
            }
            for (const cents of [10_00, 50_000_00]) {
              assert.property(yield* billing.topUp(form(cents).request), "redirect")
            }
          })
        )
      )
    )

    it.live("books nothing for a forged event", () =>
      within(({ form, movements, harness, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            const { request, sent } = form(10_00)
            yield* billing.topUp(request)
            yield* harness.pay(sent.payment_id, "good")
            const { body, header } = yield* harness.event(sent.payment_id)
            for (const [text, reader] of [
              [body, () => null],
              [`${body} `, header]
            ] as const) {
              const error = yield* Effect.flip(billing.webhook(text, reader))
              assert.strictEqual(error._tag, "EventRejected")
            }
            assert.deepStrictEqual(yield* movements, [])
          })
        )
      )
    )

    it.live("logs an error that says what to do when an event is about an unknown payment", () =>
      within(({ buy, database, harness, withBilling }) =>
        Effect.gen(function* () {
          const logs: Array<string> = []
          const logger = Logger.make(({ message }) => logs.push(String(message)))
          const id = yield* withBilling((billing) =>
            Effect.gen(function* () {
              const bought = yield* buy(billing, 50_00, "good")
              yield* database.run("delete from console.payment") // as in a restored backup from before the payment
              const { body, header } = yield* harness.event(bought)
              yield* billing.webhook(body, header)
              return bought
            })
          ).pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Error"))
          const { name } = harness.processor
          assert.deepStrictEqual(logs, [
            `An event from ${name} names payment ${id}, which is unknown here; a restored backup lacks the payments made after it. Check the payment at ${name}. If an account of this ledger paid, credit it with: larder-serve accounts credit --account ID --usd AMOUNT --note ${id}`
          ])
        })
      )
    )

    it.live("books nothing if the received amount differs, and reports it to the customer", () =>
      within(({ account_id, form, movements, harness, withBilling }) =>
        withBilling(
          (billing) =>
            Effect.gen(function* () {
              const { request, sent } = form(10_00)
              yield* billing.topUp(request)
              yield* harness.pay(sent.payment_id, "good")
              const { problem, state } = yield* billing.payment(account_id, sent.payment_id)
              assert.deepStrictEqual(
                [state, problem],
                [
                  "failed",
                  "$10.01 was received instead of $10.00. No credits were added; the operator has been notified."
                ]
              )
              assert.deepStrictEqual(yield* movements, [])
            }),
          {
            processor: {
              ...harness.processor,
              retrieve: (query) =>
                Effect.map(
                  harness.processor.retrieve(query),
                  (retrieved) => retrieved && { ...retrieved, cents: retrieved.cents + 1 }
                )
            }
          }
        )
      )
    )

    it.live("does not show the payments of another account", () =>
      within(({ account_id, buy, newAccount, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            const id = yield* buy(billing, 10_00, "good")
            const other = yield* newAccount
            assert.strictEqual((yield* Effect.flip(billing.payment(other.account_id, id)))._tag, "UnknownPayment")
            assert.strictEqual((yield* Effect.flip(billing.receipt(other.account_id, id)))._tag, "UnknownPayment")
            assert.deepStrictEqual(yield* billing.payments(other.account_id, { before: null, limit: 10 }), [])
            assert.deepStrictEqual(yield* billing.payments(other.account_id, { before: id, limit: 10 }), [])
            assert.isNull((yield* billing.settings(other.account_id)).card)
            assert.isNotNull((yield* billing.settings(account_id)).card)
          })
        )
      )
    )

    it.live("lists all payments page by page", () =>
      within(({ account_id, form, withBilling }) =>
        withBilling((billing) =>
          Effect.gen(function* () {
            for (let number = 0; number < 7; number++) yield* billing.topUp(form(10_00 + number).request)
            const all = yield* billing.payments(account_id, { before: null, limit: 100 })
            const paged: Array<string> = []
            for (let before: string | null = null; ; ) {
              const page: ReadonlyArray<{ readonly id: string }> = yield* billing.payments(account_id, {
                before,
                limit: 3
              })
              paged.push(...page.map(({ id }) => id))
              before = page.at(-1)?.id ?? null
              if (before === null) break
            }
            assert.deepStrictEqual(
              paged,
              all.map(({ id }) => id)
            )
            assert.strictEqual(all.length, 7)
          })
        )
      )
    )
  })
})

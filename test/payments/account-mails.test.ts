/** Mails to the people of an account, over a real mail server: about a low balance, and what stops or limits auto-recharge. */
import { assert, describe, it } from "@effect/vitest"
import type { Billing } from "@larder/serve/billing"
import { Administration } from "@larder/serve/ledger"
import { mailFromSettings, openSmtpMailer } from "@larder/serve/mail"
import { makeAccountMails } from "@larder/serve/notices/mail-accounts.ts"
import { People } from "@larder/serve/people"
import { ConsoleDatabase } from "@larder/serve/persistence"
import { ConfigProvider, Effect, Layer, Schema } from "effect"
import { join, layerPeople } from "../people/joined.ts"
import { collectLog } from "../support/collect-log.ts"
import { type MailAnswer, type ReceivedMail, startMailServer } from "../support/mail-server.ts"
import { rechargeChoice, saveRecharge } from "../support/serve/recharge-choice.ts"
import { advanceToNoon, begin, isOff, spendAndMark } from "./recharging.ts"
import { inEachSetup, type Setup, until } from "./setup.ts"

const consoleUrl = "https://console.example.com"
const minute = 60_000
let addresses = 0

/** Servers that look at the account, and its people. */
const openMails = Effect.fnUntraced(function* (setup: Setup, ...answers: ReadonlyArray<MailAnswer>) {
  const server = yield* Effect.promise(() => startMailServer(...answers))
  const settings = yield* mailFromSettings.pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(server.settings)))
  )
  if (settings === undefined) throw new Error("there is no mail server")
  const services = layerPeople.pipe(
    Layer.provideMerge(Layer.succeed(ConsoleDatabase, setup.database)),
    Layer.merge(Layer.succeed(Administration, setup.administration))
  )
  const context = yield* Layer.build(services)
  const mailer = openSmtpMailer(settings)
  const [first, second] = [makeAccountMails(mailer, () => consoleUrl), makeAccountMails(mailer, () => consoleUrl)]
  const invite = Effect.fnUntraced(function* (name: string) {
    const email = `${name}-${++addresses}@example.com`
    const { person } = yield* join(email, setup.account_id)
    return person
  }, Effect.provideContext(context))
  return {
    server,
    invite,
    remove: (id: string) => People.use((people) => people.remove(id)).pipe(Effect.provideContext(context)),
    check: () => first("first").pipe(Effect.provideContext(context)),
    checkOnOther: () => second("second").pipe(Effect.provideContext(context)),
    /** Since the last call. */
    takeMails: () => server.received.splice(0)
  }
})
const AskedRow = Schema.Struct({ asked_at: Schema.String })
const listSubjects = (mails: ReadonlyArray<ReceivedMail>) => mails.map(({ headers }) => headers.subject)
const saveLowBalance = ({ account_id }: Setup, billing: Billing["Service"], credits: number | null) =>
  billing.saveLowBalance(account_id, credits)

inEachSetup((name, within) => {
  describe(`a mail about an account with ${name}`, () => {
    it.live("tells each person once that the balance is low, and again when it falls the next time", () =>
      within((setup) =>
        setup.withBilling((billing) =>
          Effect.gen(function* () {
            const { check, checkOnOther, invite, takeMails } = yield* openMails(setup)
            const [ada, bob] = [yield* invite("ada"), yield* invite("bob")]
            yield* check()
            yield* saveLowBalance(setup, billing, 5_000)
            yield* check()
            assert.deepStrictEqual(takeMails(), []) // 5,000 credits are not below
            yield* setup.spend(10)
            yield* Effect.all([check(), checkOnOther()], { concurrency: "unbounded" })
            yield* check()
            yield* setup.advanceClock(4 * minute)
            yield* checkOnOther()
            const first = takeMails()
            assert.deepStrictEqual(first.flatMap(({ to }) => to).toSorted(), [ada.email, bob.email].toSorted())
            assert.deepStrictEqual(new Set(listSubjects(first)), new Set(["Your Larder balance is low"]))
            assert.include(
              first[0]?.text.replaceAll("\n", " "),
              "The balance is $4.99, below the $5.00 that was chosen for this mail. When it is used up, calls are refused. Add credits, or set up auto-recharge: https://"
            )
            assert.include(first[0]?.text, `${consoleUrl}/billing\n`)

            yield* setup.buy(billing, 10_00, "good")
            yield* checkOnOther()
            yield* setup.spend(10_000)
            yield* checkOnOther()
            assert.deepStrictEqual(takeMails(), []) // at most one in an hour
            yield* setup.advanceClock(60 * minute)
            yield* checkOnOther()
            const second = takeMails()
            assert.strictEqual(second.length, 2)
            assert.strictEqual(new Set([...first, ...second].map(({ id }) => id)).size, 4)

            // saving fills no mailbox: the same again changes nothing, and a new choice is mailed an hour later
            yield* setup.advanceClock(60 * minute)
            yield* saveLowBalance(setup, billing, 5_000)
            yield* checkOnOther()
            assert.deepStrictEqual(takeMails(), [])
            for (const credits of [null, 6_000, 1_000, 5_000]) {
              yield* saveLowBalance(setup, billing, credits)
              yield* checkOnOther()
            }
            assert.strictEqual(takeMails().length, 2)
            for (const credits of [null, 6_000, 1_000, 5_000]) {
              yield* saveLowBalance(setup, billing, credits)
              yield* checkOnOther()
            }
            assert.deepStrictEqual(takeMails(), [])
            yield* setup.advanceClock(60 * minute)
            yield* checkOnOther()
            assert.strictEqual(takeMails().length, 2)
          })
        )
      )
    )

    it.live("tells that a declined card has stopped auto-recharge, and when it is stopped again", () =>
      within((setup) =>
        setup.withBilling((billing) =>
          Effect.gen(function* () {
            const { check, invite, takeMails } = yield* openMails(setup)
            yield* invite("ada")
            yield* begin(setup, billing, { card: "declined_later" })
            yield* check()
            assert.deepStrictEqual(takeMails(), [])
            yield* spendAndMark(setup, billing, 12_000)
            yield* until(isOff(setup, billing))
            yield* check()
            yield* check()
            const [mail, ...others] = takeMails()
            assert.deepStrictEqual([mail?.headers.subject, others], ["Larder has stopped your auto-recharge", []])
            assert.match(mail?.text ?? "", /Auto-recharge was switched off\. A recharge of \$20\.00 with/)
            assert.include(mail?.text, `${consoleUrl}/billing/auto-recharge\n`)
            yield* setup.advanceClock(minute)
            yield* saveRecharge(billing, setup.account_id, rechargeChoice({ cents: 30_00, trigger_credits: 5_000 }))
            yield* until(isOff(setup, billing))
            yield* check()
            assert.deepStrictEqual(
              takeMails().map(({ text }) => /recharge of \$30\.00/.test(text)),
              [true]
            )
          })
        )
      )
    )

    it.live("says nothing about a ceiling that only counts the recharge that is running", () =>
      within((setup) =>
        setup.withBilling(
          (billing) =>
            Effect.gen(function* () {
              const { check, invite, takeMails } = yield* openMails(setup)
              yield* invite("ada")
              yield* setup.buy(billing, 10_00, "good")
              const choice = rechargeChoice({ cents: 20_00, trigger_credits: 30_000, daily_ceiling_cents: 20_00 })
              yield* saveRecharge(billing, setup.account_id, choice)
              const requested = setup.database.all(
                AskedRow,
                "select asked_at from console.payment where kind = 'auto_recharge' and asked_at is not null"
              )
              yield* until(Effect.map(requested, ({ length }) => length === 1))
              yield* check()
              assert.deepStrictEqual(takeMails(), [])
            }),
          { processor: { ...setup.harness.processor, charge: () => Effect.never } } // the bank takes its time
        )
      )
    )

    it.live("tells once that a ceiling holds back a recharge, and that the operator's deduction stops it", () =>
      within((setup) =>
        setup.withBilling((billing) =>
          Effect.gen(function* () {
            const { check, invite, takeMails } = yield* openMails(setup)
            yield* advanceToNoon(setup)
            yield* invite("ada")
            yield* begin(setup, billing)
            const choice = rechargeChoice({ cents: 20_00, trigger_credits: 30_000, daily_ceiling_cents: 20_00 })
            yield* saveRecharge(billing, setup.account_id, choice)
            yield* until(Effect.map(setup.balance, (balance) => balance === 35_000))
            yield* check()
            assert.deepStrictEqual(takeMails(), [])
            yield* setup.spend(6_000)
            yield* check()
            yield* check()
            const mails = takeMails()
            assert.deepStrictEqual(listSubjects(mails), ["A ceiling holds back your Larder auto-recharge"])
            assert.match(
              mails[0]?.text.replaceAll("\n", " ") ?? "",
              /exceed the ceiling of \$20\.00 for this day\. The card is not/
            )
            const { account_id, administration } = setup
            yield* administration.debitAccount({ account_id, credits: 29_000, note: "corrected" })
            yield* check()
            const stops = takeMails()
            assert.deepStrictEqual(listSubjects(stops), ["Larder has stopped your auto-recharge"])
            assert.include(
              stops[0]?.text.replaceAll("\n", " "),
              "The balance is $0.00. Calls are refused. Add credits, or"
            )
            yield* administration.suspendAccount({ account_id, note: "unpaid" })
            yield* saveLowBalance(setup, billing, 50_000)
            yield* check()
            assert.deepStrictEqual(takeMails(), []) // a suspended account cannot buy credits
            yield* administration.resumeAccount({ account_id, note: "paid" })
            yield* check()
            assert.strictEqual(takeMails().length, 1)
          })
        )
      )
    )

    it.live(
      "is repeated with the same id after it was not accepted, and by another server after the claim has expired",
      () =>
        within((setup) =>
          setup.withBilling((billing) =>
            Effect.gen(function* () {
              const { check, checkOnOther, invite, server, takeMails } = yield* openMails(
                setup,
                { data: 451 },
                { data: 451 },
                "accept"
              )
              yield* invite("ada")
              yield* saveLowBalance(setup, billing, 10_000)
              yield* check()
              yield* check()
              assert.strictEqual(server.count(), 1) // the mail server wants a pause
              yield* setup.advanceClock(6 * minute)
              yield* check()
              yield* checkOnOther() // the claim of the first one holds
              assert.strictEqual(server.count(), 2)
              yield* setup.advanceClock(4 * minute)
              yield* checkOnOther()
              yield* checkOnOther()
              const ids = takeMails().map(({ id }) => id)
              assert.deepStrictEqual([ids.length, new Set(ids).size], [3, 1])
            })
          )
        )
    )

    it.live(
      "costs one try and one warning per check while the mail server accepts nothing, and arrives afterwards",
      () =>
        within((setup) =>
          setup.withBilling((billing) =>
            Effect.gen(function* () {
              const away: MailAnswer = { sender: 450 }
              const { check, checkOnOther, invite, server, takeMails } = yield* openMails(
                setup,
                away,
                away,
                away,
                "accept"
              )
              yield* invite("ada")
              yield* invite("bob")
              yield* saveLowBalance(setup, billing, 10_000)
              for (const tries of [1, 2]) {
                const { lines } = yield* collectLog(check())
                assert.deepStrictEqual(
                  lines.map(({ event }) => event),
                  [
                    "a mail to a customer was not delivered: The mail server in LARDER_SMTP_URL deferred the sender in LARDER_MAIL_FROM (450)."
                  ]
                )
                assert.strictEqual(server.count(), tries)
              }
              yield* checkOnOther() // it has not tried, and may reach the mail server
              assert.strictEqual(server.count(), 3)
              const { lines } = yield* collectLog(check())
              assert.deepStrictEqual([lines, server.count()], [[], 3]) // both are tried again after a pause
              yield* setup.advanceClock(6 * minute)
              yield* check()
              assert.strictEqual(takeMails().length, 2)
            })
          )
        )
    )

    it.live("reaches the others if one mailbox no longer exists, which is tried once a day", () =>
      within((setup) =>
        setup.withBilling((billing) =>
          Effect.gen(function* () {
            const { check, invite, server, takeMails } = yield* openMails(setup, { rcpt: 550 }, "accept", { rcpt: 550 })
            yield* invite("ada")
            yield* invite("bob")
            yield* saveLowBalance(setup, billing, 10_000)
            yield* check()
            assert.deepStrictEqual([server.count(), takeMails().length], [2, 1])
            yield* setup.advanceClock(60 * minute)
            yield* check()
            assert.strictEqual(server.count(), 2)
            yield* setup.advanceClock(24 * 60 * minute)
            yield* check()
            assert.strictEqual(server.count(), 3)
          })
        )
      )
    )
  })
})

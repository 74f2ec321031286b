/** Links for forgotten passwords on both databases: who gets them, how often, and what using one ends. */
import { assert, describe, it } from "@effect/vitest"
import { Administration } from "@larder/serve/ledger"
import type { Mail, Mailer } from "@larder/serve/mail"
import { MailNotDelivered } from "@larder/serve/mail"
import { administerPeople, openPasswordResets, People } from "@larder/serve/people"
import { Effect, Fiber, Option, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { consoleDatabaseKinds } from "../support/serve/console-databases.ts"
import { isSignedIn, join, otherPassword, password, peopleIn, signIn } from "./joined.ts"

const consoleUrl = "https://console.example"
const readToken = (mail: Mail | undefined) =>
  /https:\/\/console\.example\/invitation\/([\w-]{43})\n/.exec(mail?.text ?? "")?.[1] ?? ""

/** Keeps mails; the first `failures` are not delivered, or have no answer: those arrive all the same. */
const makeMailer = (failures = 0, reason: MailNotDelivered["reason"] = "unavailable") => {
  const sent: Array<Mail> = []
  let tries = 0
  const mailer: Mailer = {
    delivery: "smtp",
    send: (mail) =>
      Effect.suspend(() => {
        const isDelivered = ++tries > failures
        if (isDelivered || reason === "unanswered") sent.push(mail)
        return isDelivered ? Effect.void : Effect.fail(new MailNotDelivered({ problem: "down", reason }))
      })
  }
  return { mailer, sent }
}

/** Requests a link, and waits until it was mailed or not. Each request comes from another network. */
const openRequests = Effect.fnUntraced(function* (mailer: Mailer) {
  const resets = yield* openPasswordResets(mailer, () => consoleUrl)
  let network = 0
  return Effect.fnUntraced(function* (email: string) {
    const mailing = yield* resets.request(email, `192.0.2.${++network}`)
    yield* TestClock.adjust("1 second")
    if (mailing !== undefined) yield* Fiber.join(mailing)
  })
})
const scopedPeopleIn =
  (...[name]: Parameters<typeof peopleIn>) =>
  <A, E>(work: Effect.Effect<A, E, People | Scope.Scope>) =>
    peopleIn(name)(() => Effect.scoped(work))
const choose = (token: string, chosen = otherPassword) =>
  People.use((people) => people.accept({ token, email: "", password: chosen }))
const isValid = (token: string) => People.use((people) => Effect.map(people.invitation(token), Option.isSome))

describe.each(consoleDatabaseKinds)("a forgotten password in %s", (name) => {
  const withPeople = scopedPeopleIn(name)

  it.effect("is replaced with a mailed link, which ends every session, and works once", () =>
    withPeople(
      Effect.gen(function* () {
        const { mailer, sent } = makeMailer()
        const request = yield* openRequests(mailer)
        const signedIn = yield* join("ada@example.com")
        yield* request(" Ada@Example.com ")
        assert.deepStrictEqual(
          sent.map(({ subject, to }) => [to, subject]),
          [["ada@example.com", "Choose a new password for Larder"]]
        )
        assert.isTrue(yield* isSignedIn(signedIn)) // anyone can request a link
        yield* signIn("ada@example.com")
        const again = yield* choose(readToken(sent[0]))
        assert.deepStrictEqual([yield* isSignedIn(signedIn), yield* isSignedIn(again)], [false, true])
        assert.strictEqual((yield* Effect.flip(signIn("ada@example.com")))._tag, "WrongCredentials")
        assert.strictEqual((yield* Effect.flip(choose(readToken(sent[0]), password)))._tag, "InvalidInvitation")
      })
    )
  )

  it.effect("keeps links for an hour; using one, or changing the password, ends all links of the person", () =>
    withPeople(
      Effect.gen(function* () {
        const { mailer, sent } = makeMailer()
        const request = yield* openRequests(mailer)
        const { person } = yield* join("ada@example.com")
        const { person: other } = yield* join("bob@example.com")
        const people = yield* People
        const byOperator = yield* people.reset(other.id)
        yield* request(person.email)
        yield* TestClock.adjust("3590 seconds")
        assert.isTrue(yield* isValid(byOperator.token))
        yield* request(person.email)
        const [first, second] = sent.map(readToken)
        assert.deepStrictEqual([yield* isValid(first ?? ""), yield* isValid(second ?? "")], [true, true])
        yield* TestClock.adjust("10 seconds")
        assert.deepStrictEqual([yield* isValid(first ?? ""), yield* isValid(second ?? "")], [false, true])
        assert.isFalse(yield* isValid(byOperator.token))
        yield* request(person.email)
        yield* choose(second ?? "")
        assert.isFalse(yield* isValid(readToken(sent[2])))
        yield* TestClock.adjust("24 hours")
        const others = yield* people.reset(other.id)
        yield* request(person.email)
        yield* people.changePassword({ person_id: person.id, current: otherPassword, next: password })
        assert.deepStrictEqual([sent.length, yield* isValid(readToken(sent[3]))], [4, false])
        assert.isTrue(yield* isValid(others.token))
      })
    )
  )

  it.effect(
    "is mailed three times a day to one address, and to no unknown one; what was not delivered does not count",
    () =>
      withPeople(
        Effect.gen(function* () {
          const { mailer, sent } = makeMailer(2)
          const request = yield* openRequests(mailer)
          const { person } = yield* join("ada@example.com")
          yield* request("nobody@example.com")
          for (let count = 0; count < 7; count++) yield* request(person.email)
          assert.deepStrictEqual(new Set(sent.map(({ to }) => to)), new Set([person.email]))
          assert.strictEqual(sent.length, 3)
          const open = yield* People.use((people) => people.invitations(person.account_id))
          assert.strictEqual(open.length, 3) // none for a mail that was not delivered, or not sent
          yield* TestClock.adjust("24 hours")
          yield* request(person.email)
          assert.strictEqual(sent.length, 4)
        })
      )
  )

  it.effect("is mailed no more often, and with links that work, by a mail server that answers too late", () =>
    withPeople(
      Effect.gen(function* () {
        const { mailer, sent } = makeMailer(9, "unanswered")
        const request = yield* openRequests(mailer)
        const { person } = yield* join("ada@example.com")
        for (let count = 0; count < 5; count++) yield* request(person.email)
        assert.strictEqual(sent.length, 3)
        for (const mail of sent) assert.isTrue(yield* isValid(readToken(mail)))
      })
    )
  )

  it.effect("delays many requests for one address or from one network, whether or not anyone has the address", () =>
    withPeople(
      Effect.gen(function* () {
        const { request } = yield* openPasswordResets(makeMailer().mailer, () => consoleUrl)
        yield* join("ada@example.com")
        const countAllowed = Effect.fnUntraced(function* (email: (number: number) => string, address: string) {
          for (let number = 0; number < 50; number++) {
            const result = yield* Effect.result(request(email(number), address))
            if (result._tag === "Failure") return [number, result.failure._tag]
          }
          return [50, "none"]
        })
        assert.deepStrictEqual(yield* countAllowed(() => "ada@example.com", "192.0.2.1"), [5, "TooManyAttempts"])
        assert.deepStrictEqual(yield* countAllowed(() => "nobody@example.com", "192.0.2.2"), [5, "TooManyAttempts"])
        assert.deepStrictEqual(yield* countAllowed((n) => `p${n}@example.com`, "192.0.2.3"), [20, "TooManyAttempts"])
        assert.deepStrictEqual(yield* countAllowed(() => "not an address", "192.0.2.4"), [0, "InvalidEmail"])
        yield* signIn("ada@example.com", password, "192.0.2.1") // requests do not delay sign-ins
      })
    )
  )
})

describe("an operator's links", () => {
  const withPeople = scopedPeopleIn("SQLite")
  const accounts = Administration.of({ account: () => Effect.succeed({}) } as unknown as Administration["Service"])

  it.effect("are mailed if they have an address, and a link that is not says why", () =>
    withPeople(
      Effect.gen(function* () {
        const { mailer, sent } = makeMailer(1)
        const operator = yield* administerPeople(() => consoleUrl, mailer).pipe(
          Effect.provideService(Administration, accounts)
        )
        const invite = (email: string | null) =>
          operator.invitePerson({ account_id: "acct_a", email, is_operator: false })
        assert.deepStrictEqual(
          [yield* invite("ada@example.com"), yield* invite("ada@example.com"), yield* invite(null)].map(
            ({ is_mailed, mail_problem }) => [is_mailed, mail_problem]
          ),
          [
            [false, "down"],
            [true, null],
            [false, null]
          ]
        )
        const { person } = yield* choose(readToken(sent[0]), password)
        const reset = yield* operator.resetPerson({ person_id: person.id })
        assert.deepStrictEqual(
          [reset.is_mailed, sent.map(({ subject, to }) => [to, subject]), reset.link],
          [
            true,
            [
              ["ada@example.com", "Your invitation to Larder"],
              ["ada@example.com", "Choose a new password for Larder"]
            ],
            `${consoleUrl}/invitation/${readToken(sent[1])}`
          ]
        )
        yield* operator.resetPerson({ person_id: person.id })
        const { is_mailed, mail_problem } = yield* operator.resetPerson({ person_id: person.id })
        assert.deepStrictEqual(
          [is_mailed, mail_problem],
          [false, "3 links have been mailed to this address within a day"]
        )
      })
    )
  )
})

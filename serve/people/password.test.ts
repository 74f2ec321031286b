import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type CallerTrust, findPasswordProblem, Passwords } from "./password.ts"

const password = "correct horse battery"
/** The same password, hashed with weaker parameters. */
const olderHash = "$scrypt$ln=4,r=8,p=1$c2FsdHNhbHRzYWx0c2FsdA$EoVSPZC4RYKB2CErwCmlipwgpfFn0T/z5ifD4UXaZJU"
const withPasswords = <A, E>(work: (passwords: Passwords["Service"]) => Effect.Effect<A, E>) =>
  Passwords.use(work).pipe(Effect.provide(Passwords.layer))

describe("passwords", () => {
  it.effect("stores the parameters of scrypt, a salt and a hash, and accepts every Unicode form of the password", () =>
    withPasswords(({ isCorrect, hashNew }) =>
      Effect.gen(function* () {
        const password = "grüße aus köln"
        const first = yield* hashNew(password.normalize("NFC"), "a@example.com")
        const second = yield* hashNew(password, "a@example.com")
        assert.match(first, /^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
        assert.notStrictEqual(first, second)
        assert.deepStrictEqual(
          yield* Effect.all([
            isCorrect(password.normalize("NFD"), first, "known"),
            isCorrect(password, second, "stranger"),
            isCorrect(`${password}.`, first, "known")
          ]),
          [true, true, false]
        )
      })
    )
  )

  it.effect("accepts a password that was stored with older parameters", () =>
    withPasswords(({ isCorrect }) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* isCorrect(password, olderHash, "known"), true)
        assert.strictEqual(yield* isCorrect("another one here", olderHash, "known"), false)
      })
    )
  )

  it.effect("rejects every password of an unknown person, even one of 1,000 characters", () =>
    withPasswords(({ isCorrect }) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          yield* Effect.all([
            isCorrect(password, undefined, "stranger"),
            isCorrect("x".repeat(1_000), undefined, "stranger")
          ]),
          [false, false]
        )
      })
    )
  )

  it.effect("queues 100 of 120 passwords, and rejects the others", () =>
    withPasswords(({ isCorrect }) =>
      Effect.gen(function* () {
        const checks = Array.from({ length: 120 }, () => Effect.result(isCorrect(password, olderHash, "known")))
        const results = yield* Effect.all(checks, { concurrency: "unbounded" })
        assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 100)
        assert.isTrue(yield* isCorrect(password, olderHash, "known"))
      })
    )
  )

  it.effect("limits strangers to 60 of the 100 places, and checks known browsers in between", () =>
    withPasswords(({ isCorrect }) =>
      Effect.gen(function* () {
        const finished: Array<string> = []
        const check = (trust: CallerTrust) =>
          Effect.result(
            Effect.tap(isCorrect(password, olderHash, trust), () => Effect.sync(() => finished.push(trust)))
          )
        const checks = [...Array<CallerTrust>(80).fill("stranger"), ...Array<CallerTrust>(41).fill("known")].map(check)
        const results = yield* Effect.all(checks, { concurrency: "unbounded" })
        assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 100)
        assert.strictEqual(finished.filter((trust) => trust === "stranger").length, 60)
        assert.isAtMost(finished.slice(0, 10).filter((trust) => trust === "stranger").length, 4)
        assert.include(finished.slice(0, 4), "known")
      })
    )
  )

  const guessable =
    "This password is easy to guess. Use several unrelated words, or let a password manager generate one."
  it.effect.each([
    ["eleven-char", "A password must have at least 12 characters."],
    ["x".repeat(201), "A password must have at most 200 characters."],
    ["Ann.Example@Example.COM", "The e-mail address cannot be the password."],
    ["my ann.example@example.com", "The e-mail address cannot be the password."],
    ...[
      ...["abcabcabcabcabc", "123456789012", "passwordpassword", "qwertyuiop12", "larderlarder1"],
      ...["Passw0rd2024!", "ann.example1234", "1q2w3e4r5t6y", "x".repeat(200)],
      ...["correcthorsebatterystaple", "Correct-Horse-Battery-Staple!", "correct horse battery", "c0rrecth0rseb4ttery"],
      ...["to be or not to be", "thequickbrownfox", "MondayTuesdayWednesday", "I love you forever"],
      ...["dragonmonkeymaster", "Apple Orange Banana", "summer2024winter2024", "Ann!Larder!Password!"]
    ].map((common) => [common, guessable] as const),
    ["staple correct horse", undefined],
    ["lantern oyster gravel", undefined],
    ["walnut-turbine-sixteen-otter", undefined],
    ["xK9#mQ2vL8!p", undefined],
    ["пароль из слов", undefined]
  ] as const)("checks the password %s: %s", ([given, problem]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* findPasswordProblem(given, "ann.example@example.com"), problem)
    })
  )
})

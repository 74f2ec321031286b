import { assert, describe, it } from "@effect/vitest"
import { makeAttempts } from "./attempts.ts"
import { TooManyAttempts } from "./people.ts"

const minute = 60_000
const secondsOf = (begun: ReturnType<ReturnType<typeof makeAttempts>["begin"]>) =>
  begun instanceof TooManyAttempts ? begun.seconds : 0

/** Fails as soon as it may, from 0 on; answers with the waits in between, in seconds. */
const waitsOf = (failures: number, email: (number: number) => string) => {
  const { begin } = makeAttempts()
  const waits: Array<number> = []
  let now = 0
  for (let number = 0; number < failures; number++) {
    const wait = secondsOf(begin(email(number), "192.0.2.7", now))
    if (wait === 0) continue
    waits.push(wait)
    now += wait * 1_000
    begin(email(number), "192.0.2.7", now)
  }
  return waits
}

describe("failed sign-ins", () => {
  it("of one e-mail wait twice as long each time from the sixth on, a quarter of an hour at most", () => {
    assert.deepStrictEqual(
      waitsOf(17, () => "a@example.com"),
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
    )
  })

  it("of one e-mail from one address keep nobody out who comes from another", () => {
    const { begin } = makeAttempts()
    for (let failure = 0; failure < 5; failure++) begin("a@example.com", "192.0.2.7", 0)
    assert.strictEqual(secondsOf(begin("a@example.com", "192.0.2.7", 0)), 1)
    assert.strictEqual(secondsOf(begin("a@example.com", "198.51.100.1", 0)), 0)
    assert.strictEqual(secondsOf(begin("a@example.com", undefined, 0)), 0)
  })

  it("of one e-mail from ever new addresses wait from the fifty-first on, a minute at most", () => {
    const { begin } = makeAttempts()
    let now = 0
    const waits: Array<number> = []
    for (let failure = 0; failure < 60; failure++) {
      const wait = secondsOf(begin("a@example.com", `192.0.2.${failure}`, now))
      if (wait === 0) continue
      waits.push(wait)
      now += wait * 1_000
      begin("a@example.com", `192.0.2.${failure}`, now)
    }
    assert.deepStrictEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
  })

  it("of one address wait from the twenty-first on, whatever the e-mail", () => {
    assert.deepStrictEqual(
      waitsOf(23, (number) => `p${number}@example.com`),
      [1, 2, 4]
    )
  })

  it("are forgotten after an hour", () => {
    const { begin } = makeAttempts()
    for (let failure = 0; failure < 5; failure++) begin("a@example.com", undefined, 0)
    assert.strictEqual(secondsOf(begin("a@example.com", undefined, 0)), 1)
    for (let failure = 0; failure < 5; failure++) {
      assert.strictEqual(secondsOf(begin("a@example.com", undefined, 61 * minute)), 0)
    }
  })

  it("of an e-mail are forgotten with a success, and those of the address stay", () => {
    const { begin } = makeAttempts()
    for (let failure = 0; failure < 19; failure++) begin(`p${failure}@example.com`, "192.0.2.7", 0)
    const right = begin("a@example.com", "192.0.2.7", 0)
    if (right instanceof TooManyAttempts) throw right
    right.succeeded(0)
    assert.strictEqual(secondsOf(begin("b@example.com", "192.0.2.7", 0)), 0)
    assert.strictEqual(secondsOf(begin("c@example.com", "192.0.2.7", 0)), 1)
  })

  it("that nobody could judge do not count, and shorten no wait", () => {
    const { begin } = makeAttempts()
    for (let failure = 0; failure < 5; failure++) begin("a@example.com", undefined, 0)
    const unjudged = begin("a@example.com", undefined, 1_000)
    if (unjudged instanceof TooManyAttempts) throw unjudged
    unjudged.withdrawn(1_000)
    assert.strictEqual(secondsOf(begin("a@example.com", undefined, 1_000)), 1)
  })

  it("are remembered of so many names only, the latest ones", () => {
    const { begin } = makeAttempts()
    for (let failure = 0; failure < 5; failure++) begin("old@example.com", undefined, 0)
    for (let name = 0; name < 20_000; name++) begin(`p${name}@example.com`, undefined, 0)
    assert.strictEqual(secondsOf(begin("old@example.com", undefined, 0)), 0)
  })
})

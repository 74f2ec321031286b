import { assert, describe, it } from "@effect/vitest"
import { type Attempt, makeAttempts } from "./attempts.ts"
import { TooManyAttempts } from "./person.ts"

const minute = 60_000
const readWait = (attempt: Attempt | TooManyAttempts) => (attempt instanceof TooManyAttempts ? attempt.seconds : 0)

/** Fails as soon as an attempt is allowed, from time 0 on. Returns the waits between the failures, in seconds. */
const collectWaits = (failures: number, email: (number: number) => string) => {
  const { beginUnknown } = makeAttempts()
  const waits: Array<number> = []
  let now = 0
  for (let number = 0; number < failures; number++) {
    const wait = readWait(beginUnknown(email(number), "192.0.2.7", now))
    if (wait === 0) continue
    waits.push(wait)
    now += wait * 1_000
    beginUnknown(email(number), "192.0.2.7", now)
  }
  return waits
}

describe("failed sign-ins", () => {
  it("doubles the wait for one e-mail from the sixth attempt on, up to 15 minutes", () => {
    assert.deepStrictEqual(
      collectWaits(17, () => "a@example.com"),
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]
    )
  })

  it("does not delay the same e-mail from another address", () => {
    const { beginUnknown } = makeAttempts()
    for (let failure = 0; failure < 5; failure++) beginUnknown("a@example.com", "192.0.2.7", 0)
    assert.strictEqual(readWait(beginUnknown("a@example.com", "192.0.2.7", 0)), 1)
    assert.strictEqual(readWait(beginUnknown("a@example.com", "198.51.100.1", 0)), 0)
  })

  it("delays one e-mail from many addresses from the 51st attempt on, by a minute at most", () => {
    const { beginUnknown } = makeAttempts()
    let now = 0
    const waits: Array<number> = []
    for (let failure = 0; failure < 60; failure++) {
      const wait = readWait(beginUnknown("a@example.com", `192.0.2.${failure}`, now))
      if (wait === 0) continue
      waits.push(wait)
      now += wait * 1_000
      beginUnknown("a@example.com", `192.0.2.${failure}`, now)
    }
    assert.deepStrictEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
  })

  it("does not delay a browser that the owner has signed in with when many networks fail", () => {
    const { beginKnown, beginUnknown } = makeAttempts()
    for (let second = 0; second < 300; second++) {
      for (let network = 0; network < 20; network++) {
        beginUnknown("a@example.com", `2001:db8:${network}::1`, second * 1_000)
      }
    }
    assert.isAbove(readWait(beginUnknown("a@example.com", "198.51.100.1", 299_000)), 0)
    assert.strictEqual(readWait(beginKnown("known browser", 299_000)), 0)
  })

  it("delays a known browser from the sixth attempt on, and no other caller", () => {
    const { beginKnown, beginUnknown } = makeAttempts()
    for (let failure = 0; failure < 5; failure++) beginKnown("one browser", 0)
    assert.strictEqual(readWait(beginKnown("one browser", 0)), 1)
    assert.strictEqual(readWait(beginKnown("another browser", 0)), 0)
    assert.strictEqual(readWait(beginUnknown("a@example.com", "192.0.2.7", 0)), 0)
  })

  it("counts the failures of one e-mail from all addresses of an IPv6 /48 together", () => {
    const { beginUnknown } = makeAttempts()
    for (let failure = 0; failure < 5; failure++) beginUnknown("a@example.com", `2001:db8:0:${failure}::1`, 0)
    assert.strictEqual(readWait(beginUnknown("a@example.com", "2001:db8:0:99::1", 0)), 1)
    assert.strictEqual(readWait(beginUnknown("a@example.com", "2001:db8:1:99::1", 0)), 0)
  })

  it("delays an IPv6 /48 from the 201st attempt on, and a /64 from the 21st, for any e-mail", () => {
    const { beginUnknown } = makeAttempts()
    const guess = (network: number, number: number) =>
      beginUnknown(`p${network}-${number}@example.com`, `2001:db8:0:${network}::${number}`, 0)
    for (let network = 0; network < 10; network++) {
      for (let number = 0; number < 20; number++) assert.strictEqual(readWait(guess(network, number)), 0)
      if (network === 0) assert.strictEqual(readWait(guess(0, 20)), 1)
    }
    assert.strictEqual(readWait(guess(10, 0)), 1)
  })

  it("returns the seconds that the next attempt has to wait", () => {
    const { beginKnown } = makeAttempts()
    const waits = Array.from({ length: 5 }, () => {
      const attempt = beginKnown("ann", 0)
      return attempt instanceof TooManyAttempts ? undefined : attempt.secondsToWait(0)
    })
    assert.deepStrictEqual(waits, [0, 0, 0, 0, 1])
  })

  it("delays one address from the 21st attempt on, for any e-mail", () => {
    assert.deepStrictEqual(
      collectWaits(23, (number) => `p${number}@example.com`),
      [1, 2, 4]
    )
  })

  it("ignores failures after an hour", () => {
    const { beginKnown } = makeAttempts()
    for (let failure = 0; failure < 5; failure++) beginKnown("ann", 0)
    assert.strictEqual(readWait(beginKnown("ann", 0)), 1)
    for (let failure = 0; failure < 5; failure++) {
      assert.strictEqual(readWait(beginKnown("ann", 61 * minute)), 0)
    }
  })

  it("does not wait longer because the clock was set back", () => {
    const { beginKnown } = makeAttempts()
    for (let failure = 0; failure < 5; failure++) beginKnown("ann", 60 * minute)
    assert.strictEqual(readWait(beginKnown("ann", 0)), 1)
  })

  it("clears the failures of an e-mail after a success, and keeps those of the address", () => {
    const { beginUnknown } = makeAttempts()
    for (let failure = 0; failure < 19; failure++) beginUnknown(`p${failure}@example.com`, "192.0.2.7", 0)
    const correct = beginUnknown("a@example.com", "192.0.2.7", 0)
    if (correct instanceof TooManyAttempts) throw correct
    correct.succeed(0)
    assert.strictEqual(readWait(beginUnknown("b@example.com", "192.0.2.7", 0)), 0)
    assert.strictEqual(readWait(beginUnknown("c@example.com", "192.0.2.7", 0)), 1)
  })

  it.each([
    ["IPv4 address", 30, () => "192.0.2.7", 900],
    ["/48 of IPv6", 220, (number: number) => `2001:db8:0:${number}::1`, 60]
  ] as const)("starts no new wait after successful sign-ins from the same %s", (_, count, address, wait) => {
    const { beginUnknown } = makeAttempts()
    let now = 0
    for (let failure = 0; failure < count; failure++) {
      now += 1_000 * readWait(beginUnknown(`p${failure}@example.com`, address(failure), now))
      beginUnknown(`p${failure}@example.com`, address(failure), now)
    }
    now += wait * 1_000
    for (let person = 0; person < 6; person++) {
      const correct = beginUnknown(`a${person}@example.com`, address(1_000 + person), now)
      if (correct instanceof TooManyAttempts) throw correct
      now += 1_000
      correct.succeed(now)
    }
    const fail = () => beginUnknown("b@example.com", address(2_000), now)
    assert.deepStrictEqual([readWait(fail()), readWait(fail())], [0, wait])
  })

  it("still delays the next attempt when an older one succeeds after a failure", () => {
    const { beginUnknown } = makeAttempts()
    for (let failure = 0; failure < 20; failure++) beginUnknown(`p${failure}@example.com`, "192.0.2.7", 0)
    const slow = beginUnknown("a@example.com", "192.0.2.7", 1_000)
    if (slow instanceof TooManyAttempts) throw slow
    assert.strictEqual(readWait(beginUnknown("b@example.com", "192.0.2.7", 3_000)), 0)
    slow.succeed(3_000)
    assert.strictEqual(readWait(beginUnknown("c@example.com", "192.0.2.7", 3_000)), 2)
  })

  it("does not count a withdrawn attempt, and does not shorten the wait", () => {
    const { beginKnown } = makeAttempts()
    for (let failure = 0; failure < 5; failure++) beginKnown("ann", 0)
    const unchecked = beginKnown("ann", 1_000)
    if (unchecked instanceof TooManyAttempts) throw unchecked
    unchecked.withdraw(1_000)
    assert.strictEqual(readWait(beginKnown("ann", 1_000)), 1)
  })

  it("evicts the oldest name after 20,000 others", () => {
    const { beginKnown } = makeAttempts()
    for (let failure = 0; failure < 5; failure++) beginKnown("old", 0)
    for (let name = 0; name < 20_000; name++) beginKnown(`p${name}`, 0)
    assert.strictEqual(readWait(beginKnown("old", 0)), 0)
  })
})

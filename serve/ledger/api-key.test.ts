import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { fingerprint, hasValidChecksum, last4, newApiKey } from "./api-key.ts"
import { lettersAndDigits, randomString } from "./random-string.ts"

describe("an API key", () => {
  it("has the prefix svc_data_, 64 letters and digits, and a valid checksum", () => {
    for (let n = 0; n < 200; n++) {
      const key = newApiKey()
      assert.match(key, /^svc_data_[A-Za-z0-9]{64}$/)
      assert.isTrue(hasValidChecksum(key))
    }
  })

  it("ends with the CRC-32 of its 58 random characters in base62, padded to six digits", () => {
    // the CRC-32 of 58 zeros is 0xb5e8b971
    assert.isTrue(hasValidChecksum(`svc_data_${"0".repeat(58)}3KXZrt`))
  })

  it("becomes invalid when any character changes", () => {
    const key = newApiKey()
    fc.assert(
      fc.property(fc.integer({ min: 9, max: 72 }), fc.constantFrom(...lettersAndDigits), (at, character) => {
        fc.pre(key[at] !== character)
        assert.isFalse(hasValidChecksum(key.slice(0, at) + character + key.slice(at + 1)))
      })
    )
  })

  it.each(["", "svc_data_", "svc_live_", newApiKey().slice(0, -1), `${newApiKey()}a`, ` ${newApiKey()}`])(
    "rejects a string that is not a complete key: %j",
    (text) => {
      assert.isFalse(hasValidChecksum(text))
    }
  )

  it("has its SHA-256 as fingerprint and is shown by its last four characters", () => {
    const key = `svc_data_${"a".repeat(60)}WXYZ`
    assert.strictEqual(fingerprint("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    assert.match(fingerprint(key), /^[0-9a-f]{64}$/)
    assert.strictEqual(last4(key), "WXYZ")
  })

  it("chooses its random characters uniformly from 62 letters and digits", () => {
    const counts = new Map<string, number>()
    for (const character of randomString(62_000)) counts.set(character, (counts.get(character) ?? 0) + 1)
    assert.strictEqual(counts.size, 62)
    // 1,000 are expected for each (standard deviation 31); a remainder of 256 would give eight characters 25 % more
    for (const count of counts.values()) assert.isTrue(count > 800 && count < 1200)
  })
})

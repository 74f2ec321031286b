import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { PayloadUnreadable } from "../feed.ts"
import { pieces } from "./file-feeds-for-tests.ts"
import { notText, payloadText } from "./payload-text.ts"

const read = async (...parts: ReadonlyArray<Uint8Array>) => {
  const texts: Array<string> = []
  for await (const text of payloadText(pieces(...parts))) texts.push(text)
  return texts
}
const whole = async (...parts: ReadonlyArray<Uint8Array>) => (await read(...parts)).join("")

const utf16 = (text: string, isBig: boolean) => {
  const bytes = Buffer.from(`\uFEFF${text}`, "utf16le")
  return isBig ? bytes.swap16() : bytes
}

describe("the text of a payload", () => {
  it("comes without the mark at its beginning", async () => {
    assert.strictEqual(await whole(Buffer.from("\uFEFFHandle,Title")), "Handle,Title")
  })

  it.each([true, false])("is read in UTF-16 where a mark says so; big end first: %s", async (isBig) => {
    assert.strictEqual(await whole(utf16("<rss>Größe 🧀</rss>", isBig)), "<rss>Größe 🧀</rss>")
  })

  it("is read in what its XML declaration says", async () => {
    const text = '<?xml version="1.0" encoding="ISO-8859-1"?><rss>Größe</rss>'
    assert.strictEqual(await whole(Buffer.from(text, "latin1")), text)
  })

  it("is UTF-8 where the declaration says UTF-16 in bytes that are not", async () => {
    const text = '<?xml version="1.0" encoding="utf-16"?><rss>Größe</rss>'
    assert.strictEqual(await whole(Buffer.from(text)), text)
  })

  it("cannot be read in an encoding that nobody knows", async () => {
    const text = Buffer.from('<?xml version="1.0" encoding="klingon-8"?><rss/>')
    const failed = await whole(text).catch((cause: unknown) => cause)
    assert.instanceOf(failed, PayloadUnreadable)
    assert.include(String(failed), '"klingon-8"')
  })

  it("tells bytes that are no text from a replacement character that stands there", async () => {
    const bytes = Buffer.concat([
      Buffer.from("a\uFFFDb"),
      Buffer.from([0xfc]),
      Buffer.from("c\uFFFD"),
      Buffer.from([0xc3])
    ])
    assert.strictEqual(await whole(bytes), `a\uFFFDb${notText}c\uFFFD${notText}`)
  })

  it("is the same however its bytes come", async () => {
    const bytes = Buffer.concat([Buffer.from("aß€🧀\uFFFD"), Buffer.from([0xff]), Buffer.from("🧀 end")])
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 20 }), async (places) => {
        const ends = [...places.sort((a, b) => a - b), bytes.length]
        const parts = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
        assert.strictEqual(await whole(...parts), `aß€🧀\uFFFD${notText}🧀 end`)
      })
    )
  })

  it("comes in pieces of 64 KiB that cut no character, from one chunk or from many", async () => {
    for (const before of ["", "x", "xx", "xxx"]) {
      const text = before + "🧀".repeat(100_000)
      const bytes = Buffer.from(text)
      const texts = await read(bytes)
      assert.strictEqual(texts.join(""), text)
      assert.isTrue(texts.every((piece) => piece.length <= 65_536))
      const bits = Array.from({ length: Math.ceil(bytes.length / 1000) }, (_, n) =>
        bytes.subarray(n * 1000, n * 1000 + 1000)
      )
      assert.deepStrictEqual((await read(...bits)).join(""), text)
      assert.isBelow((await read(...bits)).length, 10)
    }
  })

  it("of nothing is nothing", async () => {
    assert.deepStrictEqual(await read(), [])
    assert.deepStrictEqual(await read(new Uint8Array()), [])
  })
})

import { assert, describe, it } from "@effect/vitest"
import { pieces } from "@larder/test/support/pipelines/file-feeds.ts"
import fc from "fast-check"
import { PayloadUnreadable } from "../feed.ts"
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

  const latin = (text: string) => Buffer.from(text, "latin1")
  const wide = (text: string) => Buffer.from(text, "utf16le")
  const declaring = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?><rss>Größe</rss>`
  it.each([
    ["what the header says", "text/csv; charset=iso-8859-1", latin("Café"), "Café"],
    ["what the header says in quotes and capitals", 'text/csv;Charset="Windows-1252"', latin("Café"), "Café"],
    [
      "what the header says before a declaration",
      "text/xml; charset=ISO-8859-1",
      latin(declaring("utf-8")),
      declaring("utf-8")
    ],
    ["what a mark says before the header", "text/csv; charset=iso-8859-1", Buffer.from("\uFEFFCafé"), "Café"],
    ["what a mark of UTF-16 says before the header", "text/csv; charset=utf-8", utf16("Café", false), "Café"],
    ["UTF-16 without a mark", "text/csv; charset=utf-16le", wide("Café"), "Café"],
    [
      "UTF-8 where the header says UTF-16 of bytes that are not",
      "text/csv; charset=utf-16",
      Buffer.from("Café"),
      "Café"
    ],
    [
      "UTF-8 where the header says so of a declaration",
      "text/xml; charset=utf-8",
      Buffer.from(declaring("latin1")),
      declaring("latin1")
    ],
    [
      "what the declaration says where the header says UTF-8 of bytes that are not",
      "text/xml; charset=utf-8",
      latin(declaring("latin1")),
      declaring("latin1")
    ],
    ["UTF-8 where the header says ASCII", "text/plain; charset=us-ascii", Buffer.from("Café"), "Café"],
    ["UTF-8 where nobody knows what the header says", "text/csv; charset=klingon-8", Buffer.from("Café"), "Café"],
    ["UTF-8 where the header says nothing", "text/csv", Buffer.from("Café"), "Café"]
  ] as const)("is read in %s", async (_, contentType, bytes, expected) => {
    const texts: Array<string> = []
    for await (const text of payloadText(pieces(bytes), contentType)) texts.push(text)
    assert.strictEqual(texts.join(""), expected)
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

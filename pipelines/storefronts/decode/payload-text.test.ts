import { assert, describe, it } from "@effect/vitest"
import { yieldAll } from "@larder/test/support/pipelines/file-feeds.ts"
import fc from "fast-check"
import { FeedUnreadable } from "./feed.ts"
import { decodePieces, undecodable } from "./payload-text.ts"

const read = async (...parts: ReadonlyArray<Uint8Array>) => {
  const texts: Array<string> = []
  for await (const text of decodePieces(() => yieldAll(...parts))) texts.push(text)
  return texts
}
const readJoined = async (...parts: ReadonlyArray<Uint8Array>) => (await read(...parts)).join("")

const utf16 = (text: string, isBig: boolean) => {
  const bytes = Buffer.from(`\uFEFF${text}`, "utf16le")
  return isBig ? bytes.swap16() : bytes
}

describe("the text of a payload", () => {
  it("does not include the byte order mark", async () => {
    assert.strictEqual(await readJoined(Buffer.from("\uFEFFHandle,Title")), "Handle,Title")
  })

  it.each([true, false])("is read as UTF-16 if it has its byte order mark (big-endian: %s)", async (isBig) => {
    assert.strictEqual(await readJoined(utf16("<rss>Größe 🧀</rss>", isBig)), "<rss>Größe 🧀</rss>")
  })

  it("is read in the encoding of its XML declaration", async () => {
    const text = '<?xml version="1.0" encoding="ISO-8859-1"?><rss>Größe</rss>'
    assert.strictEqual(await readJoined(Buffer.from(text, "latin1")), text)
  })

  const toLatin1 = (text: string) => Buffer.from(text, "latin1")
  const toUtf16 = (text: string) => Buffer.from(text, "utf16le")
  const declareEncoding = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?><rss>Größe</rss>`
  it.each([
    ["the encoding of the header", "text/csv; charset=iso-8859-1", toLatin1("Café"), "Café"],
    ["the encoding of the header in quotes and capitals", 'text/csv;Charset="Windows-1252"', toLatin1("Café"), "Café"],
    [
      "the encoding of the header, not of the declaration",
      "text/xml; charset=ISO-8859-1",
      toLatin1(declareEncoding("utf-8")),
      declareEncoding("utf-8")
    ],
    [
      "the encoding of the byte order mark, not of the header",
      "text/csv; charset=iso-8859-1",
      Buffer.from("\uFEFFCafé"),
      "Café"
    ],
    [
      "UTF-16 according to the byte order mark, not the header",
      "text/csv; charset=utf-8",
      utf16("Café", false),
      "Café"
    ],
    ["UTF-16 without a byte order mark", "text/csv; charset=utf-16le", toUtf16("Café"), "Café"],
    ["UTF-8 when the header wrongly states UTF-16", "text/csv; charset=utf-16", Buffer.from("Café"), "Café"],
    [
      "UTF-8 when the header states it, not the declaration",
      "text/xml; charset=utf-8",
      Buffer.from(declareEncoding("latin1")),
      declareEncoding("latin1")
    ],
    [
      "the encoding of the declaration when the header wrongly states UTF-8",
      "text/xml; charset=utf-8",
      toLatin1(declareEncoding("latin1")),
      declareEncoding("latin1")
    ],
    ["UTF-8 when the header states ASCII", "text/plain; charset=us-ascii", Buffer.from("Café"), "Café"],
    ["UTF-8 when the header names an unknown encoding", "text/csv; charset=klingon-8", Buffer.from("Café"), "Café"],
    ["UTF-8 when the header names no encoding", "text/csv", Buffer.from("Café"), "Café"]
  ] as const)("is read in %s", async (_, contentType, bytes, expected) => {
    const texts: Array<string> = []
    for await (const text of decodePieces(() => yieldAll(bytes), contentType)) texts.push(text)
    assert.strictEqual(texts.join(""), expected)
  })

  it("is read as UTF-8 when the declaration wrongly states UTF-16", async () => {
    const text = '<?xml version="1.0" encoding="utf-16"?><rss>Größe</rss>'
    assert.strictEqual(await readJoined(Buffer.from(text)), text)
  })

  it("fails when the declaration names an unknown encoding", async () => {
    const text = Buffer.from('<?xml version="1.0" encoding="klingon-8"?><rss/>')
    const error = await readJoined(text).catch((cause: unknown) => cause)
    assert.instanceOf(error, FeedUnreadable)
    assert.include(String(error), '"klingon-8"')
  })

  it("marks bytes that are not text, and keeps replacement characters", async () => {
    const bytes = Buffer.concat([
      Buffer.from("a\uFFFDb"),
      Buffer.from([0xfc]),
      Buffer.from("c\uFFFD"),
      Buffer.from([0xc3])
    ])
    assert.strictEqual(await readJoined(bytes), `a\uFFFDb${undecodable}c\uFFFD${undecodable}`)
  })

  it("is the same however its bytes are split", async () => {
    const bytes = Buffer.concat([Buffer.from("aß€🧀\uFFFD"), Buffer.from([0xff]), Buffer.from("🧀 end")])
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 20 }), async (places) => {
        const ends = [...places.sort((a, b) => a - b), bytes.length]
        const parts = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
        assert.strictEqual(await readJoined(...parts), `aß€🧀\uFFFD${undecodable}🧀 end`)
      })
    )
  })

  it("is returned in pieces of at most 64 KiB that split no character, from one chunk or from many", async () => {
    for (const before of ["", "x", "xx", "xxx"]) {
      const text = before + "🧀".repeat(100_000)
      const bytes = Buffer.from(text)
      const texts = await read(bytes)
      assert.strictEqual(texts.join(""), text)
      assert.isTrue(texts.every((piece) => piece.length <= 65_536))
      const chunks = Array.from({ length: Math.ceil(bytes.length / 1000) }, (_, n) =>
        bytes.subarray(n * 1000, n * 1000 + 1000)
      )
      assert.deepStrictEqual((await read(...chunks)).join(""), text)
      assert.isBelow((await read(...chunks)).length, 10)
    }
  })

  it("is empty when there are no bytes", async () => {
    assert.deepStrictEqual(await read(), [])
    assert.deepStrictEqual(await read(new Uint8Array()), [])
  })
})

import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { yieldAll } from "@larder/test/support/pipelines/file-feeds.ts"
import fc from "fast-check"
import { FeedUnreadable } from "./feed-errors.ts"
import { decodePage, decodePieces, type StatedEncoding, undecodable } from "./payload-text.ts"

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

/** Decodes bytes as a file and as a page, which must be the same. */
const readStated = async (bytes: Buffer, stated: StatedEncoding) => {
  const texts: Array<string> = []
  for await (const text of decodePieces(() => yieldAll(bytes), stated)) texts.push(text)
  const page = decodePage(bytes, stated)
  return { file: texts.join(""), page: page.startsWith("\uFEFF") ? page.slice(1) : page }
}
const both = (text: string) => ({ file: text, page: text })
const findProblem = async (read: () => unknown) => {
  try {
    await read()
  } catch (cause) {
    assert.instanceOf(cause, FeedUnreadable)
    return cause instanceof FeedUnreadable ? cause.problem : ""
  }
  return null
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
    for await (const text of decodePieces(() => yieldAll(bytes), { content_type: contentType })) texts.push(text)
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

const cp1251 = (text: string) =>
  Buffer.from(Array.from(text, (letter) => (letter >= "А" ? letter.charCodeAt(0) - 0x350 : letter.charCodeAt(0))))

describe("the encoding of a payload", () => {
  const latin1 = { content_type: "text/csv; charset=iso-8859-1" }
  it.each([
    ["the header states another encoding", "Café", latin1],
    ["the store list states another encoding", "Café", { encoding: "windows-1251" }],
    ["the header and the list state other encodings", "Café", { ...latin1, encoding: "shift_jis" }]
  ] as const)("is UTF-8 for UTF-8 with characters of several bytes, although %s", async (_, text, stated) => {
    assert.deepStrictEqual(await readStated(Buffer.from(text), stated), both(text))
  })

  it.each(["ISO-8859-1", "windows-1251", "klingon-8"])(
    "is UTF-8 for UTF-8 with characters of several bytes, although its declaration states %s",
    async (encoding) => {
      const text = `<?xml version="1.0" encoding="${encoding}"?><rss>${"x".repeat(200_000)}é</rss>`
      assert.strictEqual(await readJoined(Buffer.from(text)), text)
    }
  )

  it("is what is stated if any byte is not UTF-8, even the last one of a long text", async () => {
    const ascii = "x".repeat(200_000)
    const bytes = Buffer.concat([Buffer.from(`é${ascii}`), Buffer.from([0xe9])])
    assert.deepStrictEqual(await readStated(bytes, latin1), both(`Ã©${ascii}é`))
  })

  it.each([
    ["windows-1251", "windows-1251"],
    ["CP1251", "another label of windows-1251"]
  ])("is the one of the store list rather than of the header: %s, %s", async (encoding) => {
    const stated = { ...latin1, encoding }
    assert.deepStrictEqual(await readStated(cp1251("Кафе"), stated), both("Кафе"))
  })

  it("is the one of the store list rather than of the declaration", async () => {
    const text = '<?xml version="1.0" encoding="ISO-8859-1"?><rss>Кафе</rss>'
    const { file } = await readStated(cp1251(text), { encoding: "windows-1251" })
    assert.strictEqual(file, text)
  })

  it.each([
    ["a byte order mark of UTF-8", Buffer.from("\uFEFFCafé")],
    ["a byte order mark of UTF-16", utf16("Café", true)]
  ])("is the one of %s rather than of the store list", async (_, bytes) => {
    assert.deepStrictEqual(await readStated(bytes, { encoding: "windows-1251" }), both("Café"))
  })

  it("is ISO-2022-JP for ASCII bytes if that is stated: they are no characters of several bytes", async () => {
    const bytes = Buffer.from("\u001B$B$A$c\u001B(B")
    assert.deepStrictEqual(await readStated(bytes, { encoding: "iso-2022-jp" }), both("ちゃ"))
  })

  it("costs a second reading only if another encoding than UTF-8 is stated", async () => {
    const countReads = async (text: string, stated: StatedEncoding = {}) => {
      let reads = 0
      const open = () => {
        reads += 1
        return yieldAll(Buffer.from(text))
      }
      for await (const _ of decodePieces(open, stated));
      return reads
    }
    const counts = [
      await countReads("Café"),
      await countReads("Café", { content_type: "text/csv; charset=utf-8", encoding: "utf-8" }),
      await countReads('<?xml version="1.0" encoding="UTF-8"?><rss>é</rss>'),
      await countReads("Café", latin1)
    ]
    assert.deepStrictEqual(counts, [1, 1, 1, 2])
  })
})

describe("UTF-16 without a byte order mark", () => {
  const little = Buffer.from("id\ttitle\n1\tCafé", "utf16le")
  const big = Buffer.from(little).swap16()
  it.each([
    ["utf-16le", little],
    ["utf-16be", big]
  ])("is not guessed; the fault names what the store list may state: %s", async (encoding, bytes) => {
    const remedy = `is UTF-16 without a byte order mark: state "encoding": "${encoding}" for this store in the store list.`
    assert.strictEqual(await findProblem(() => readJoined(bytes)), `It ${remedy}`)
    assert.strictEqual(await findProblem(() => decodePage(bytes)), `the response ${remedy}`)
  })

  it.each([
    ["the store list", { encoding: "utf-16le" }, little],
    ["the store list, without the order of bytes", { encoding: "utf-16" }, big],
    ["the header", { content_type: "text/csv; charset=utf-16le" }, little]
  ] as const)("is read if it is stated by %s", async (_, stated, bytes) => {
    assert.deepStrictEqual(await readStated(bytes, stated), both("id\ttitle\n1\tCafé"))
  })

  it("is read if it is XML", async () => {
    assert.strictEqual(await readJoined(Buffer.from("\n<rss>Café</rss>", "utf16le")), "\n<rss>Café</rss>")
  })

  it.each(["i\0d,title\n", "\0id,title\n", "id\0,title", "<\0rss>", "a\0b,", "a"])(
    "is not what a text with a NUL at its beginning is, even if it is stated: %j",
    async (text) => {
      for (const stated of [{}, { encoding: "utf-16le" }, { content_type: "text/csv; charset=utf-16" }]) {
        assert.deepStrictEqual(await readStated(Buffer.from(`${text}é`), stated), both(`${text}é`))
      }
    }
  )
})

describe("a payload that is no text", () => {
  const zip = (name: string, content = "") =>
    Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.alloc(26), Buffer.from(name + content)])
  it.each([
    [gzipSync("id"), "compressed with gzip. A file is unpacked once: it may be a .gz inside of a .gz."],
    [zip("feed.csv"), "a zip file. Unpack it, or list the address of the file that is in it."],
    [zip("[Content_Types].xml"), "a spreadsheet file of Excel (.xlsx). Export it as CSV."],
    [zip("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), "a spreadsheet file (.ods). Export it as CSV."],
    [Buffer.from("d0cf11e0a1b11ae1", "hex"), "a spreadsheet file of Excel (.xls). Export it as CSV."],
    [Buffer.from("28b52ffd", "hex"), "compressed with Zstandard. Only gzip is unpacked."],
    [Buffer.from("%PDF-1.7"), "a PDF file. It contains no table that can be read."]
  ])("is named by its format (case %#)", async (bytes, problem) => {
    assert.strictEqual(await findProblem(() => readJoined(bytes)), `It is ${problem}`)
    const [name] = problem.split(". ")
    assert.strictEqual(
      await findProblem(() => decodePage(bytes)),
      `the response is ${name}, and its header does not say so`
    )
  })
})

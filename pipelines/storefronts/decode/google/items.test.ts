import { assert, describe, it } from "@effect/vitest"
import { collectUntilFault, splitAtRandom, yieldAll } from "@larder/test/support/pipelines/file-feeds.ts"
import fc from "fast-check"
import { splitItems } from "./items.ts"

const read = async (...parts: ReadonlyArray<string>) => {
  const prefixes = new Set(["g"])
  const { found, problem } = await collectUntilFault(splitItems(yieldAll(...parts), prefixes))
  return { items: found, texts: found.map(({ text }) => text), problem, prefixes: [...prefixes] }
}
const rss = (...items: ReadonlyArray<string>) =>
  `<rss version="2.0"><channel><title>T</title>${items.join("\n")}</channel></rss>`

describe("items of a feed", () => {
  it.each([
    [
      "RSS",
      '<?xml version="1.0"?>\n<!-- <item>no</item> --><rss><channel><item><g:id>1</g:id></item>\n<item>2</item></channel></rss>'
    ],
    ["RSS, an item per line", "<rss>\r\n\u00a0\u00a0<item><g:id>1</g:id></item>\r\n\u00a0<item>2</item>\r\n</rss>\r\n"],
    [
      "a channel with CDATA",
      "<rss><title><![CDATA[<item>no</item>]]></title><item><g:id>1</g:id></item><item>2</item></rss>"
    ],
    ["no root", "<item><g:id>1</g:id></item><item>2</item>"]
  ])("are split from %s", async (_name, text) => {
    const { problem, texts } = await read(text)
    assert.deepStrictEqual([texts, problem], [["<item><g:id>1</g:id></item>", "<item>2</item>"], null])
  })

  it("are split from Atom and from <products>, in any case and with any prefix", async () => {
    assert.deepStrictEqual((await read('<feed><entry a="b>">1</entry></feed>')).texts, ['<entry a="b>">1</entry>'])
    assert.deepStrictEqual((await read("<products><product>1</product></products>")).texts, ["<product>1</product>"])
    assert.deepStrictEqual((await read("<RSS><ITEM>1</Item ></RSS>")).texts, ["<ITEM>1</Item >"])
    assert.deepStrictEqual((await read("<a:feed><a:entry>1</a:entry></a:feed>")).texts, ["<a:entry>1</a:entry>"])
  })

  it("are complete if an element in them has the same name", async () => {
    const product = "<product><product_type>x</product_type><product>name</product><product/><item>y</item></product>"
    const item = "<item><items><product>1</product></items></item>"
    assert.deepStrictEqual((await read(`<products>${product}${product}</products>`)).texts, [product, product])
    assert.deepStrictEqual((await read(rss(item, "<item/>", item))).texts, [item, "<item/>", item])
  })

  it("add the prefixes of Google's namespace, up to 20", async () => {
    const item = '<item xmlns:N="http://base.google.com/cns/1.0">1</item>'
    const { prefixes } = await read(
      `<rss xmlns:m='http://base.google.com/ns/1.0' xmlns:a="http://a.example/">${item}</rss>`
    )
    assert.deepStrictEqual(prefixes, ["g", "m", "n"])
    const many = Array.from({ length: 1000 }, (_, number) => item.replace("N=", `N${number}=`))
    assert.strictEqual((await read(rss(...many))).prefixes.length, 20)
  })

  it("end after CDATA and comments that contain their end tag", async () => {
    const item = "<item><![CDATA[</item> 1 < 2 ]] > ]]><!-- </item> --><a/></item>"
    assert.deepStrictEqual((await read(rss(item, item))).texts, [item, item])
  })

  it("are split in the right places if they contain an unescaped < or &", async () => {
    const items = ["<item>5 <10 & <</item>", "<item>a <b c</item>", "<item>I <3 <![CDATA[<]]></item>"]
    assert.deepStrictEqual((await read(rss(...items))).texts, items)
  })

  it("are the same however the text is split", async () => {
    const text = `\n<!DOCTYPE rss [<!ENTITY a "<item>]>"> <!-- ' --> ]><?p <item> ?><rss xmlns:m="http://base.google.com/ns/1.0">
      <t a='>'>1 < 2 <![CDATA[ <item> ]]></t><!-- <item> --><item>1<![CDATA[</item>]]></item><ITEM/>
      <item>2<item>3 <!-- </item> --></item ></rss>`
    const expected = await read(text)
    assert.deepStrictEqual([expected.items.length, expected.problem, expected.prefixes], [4, null, ["g", "m"]])
    await fc.assert(
      fc.asyncProperty(splitAtRandom(text), async (parts) => assert.deepStrictEqual(await read(...parts), expected))
    )
    assert.deepStrictEqual(await read(...text), expected)
  })
})

describe("an incomplete feed", () => {
  it.each([
    [
      "within an item",
      "<rss><item>1</item><item><g:title>x",
      "The feed ends within item 2, before its end tag: it is cut off."
    ],
    ["between items", "<rss><channel><item>1</item>", "The feed ends before </rss>: it is cut off."],
    ["within a comment", "<rss><item>1</item><!-- x", 'The feed ends before "-->": it is cut off.']
  ])("reports that it ends %s, and returns the items before", async (_name, text, expected) => {
    const { problem, texts } = await read(text)
    assert.deepStrictEqual([texts, problem], [["<item>1</item>"], expected])
  })

  it("loses only the item that has no end tag", async () => {
    const { items, problem } = await read(rss("<item>1", "<item>2</item>"))
    assert.deepStrictEqual(items, [
      { number: 1, text: "<item>1\n", problem: "its </item> is missing" },
      { number: 2, text: "<item>2</item>", problem: null }
    ])
    assert.isNull(problem)
  })

  it("loses only the item whose CDATA does not end", async () => {
    const { items } = await read(rss("<item>1</item>", "<item><a><![CDATA[2</a></item>", "<item>3</item>"))
    assert.deepStrictEqual(
      items.map(({ number, problem }) => [number, problem]),
      [
        [1, null],
        [2, 'a comment or CDATA in it has no "]]>"'],
        [3, null]
      ]
    )
  })
})

describe("a document that is not a feed", () => {
  it.each([
    ["a page", "<!DOCTYPE html><html><body><p>Just a moment</p></body></html>", "This is an HTML page, not a feed."],
    ["text", "id,title", "It contains no element: this is not a feed."],
    [
      "another document",
      "<orders><order/></orders>",
      "Its <orders> contains no <item>, <entry> or <product>: this is not a product feed."
    ]
  ])("is reported when it is %s", async (_name, text, expected) => {
    assert.deepStrictEqual(await read(text), { items: [], texts: [], problem: expected, prefixes: ["g"] })
  })

  it("is not reported for a feed without items", async () => {
    assert.isNull((await read(rss())).problem)
  })
})

describe("a malicious feed", () => {
  const endless = async function* (begin: string, part: string) {
    yield begin
    for (let number = 0; number < 100; number++) yield part.repeat(65_536 / part.length)
  }
  const problemOf = async (begin: string, part: string) => {
    const { found, problem } = await collectUntilFault(splitItems(endless(begin, part), new Set()))
    return { items: found.map((item) => [item.text.length, item.problem]), problem }
  }

  it("cannot declare entities", async () => {
    const bomb = '<!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;<item>]]>"><!ENTITY % c SYSTEM "file:///x">]>'
    assert.deepStrictEqual((await read(`${bomb}${rss("<item>&b;</item>")}`)).texts, ["<item>&b;</item>"])
  })

  it("fails when its DOCTYPE does not end within 65,536 characters", async () => {
    const { problem } = await problemOf("<!DOCTYPE rss [", '<!ENTITY a "b">')
    assert.strictEqual(problem, "Its DOCTYPE does not end within 65536 characters.")
  })

  it("fails when more than 100 elements are nested without an item", async () => {
    const { problem } = await problemOf("<rss>", "<a>")
    assert.strictEqual(problem, "More than 100 elements are nested, and none of them is an item: this is not a feed.")
  })

  it.each([
    ["text", "x"],
    ["elements", "<a>"],
    ["spaces", " "],
    ["ends of CDATA", "]]"]
  ])("rejects an item that does not end, and quotes its first 10,000 characters: %s", async (_name, part) => {
    const { items, problem } = await problemOf("<rss><item>", part)
    assert.deepStrictEqual(items, [[10_000, "it is longer than 1000000 characters, or does not end"]])
    assert.strictEqual(problem, "The feed ends before </rss>: it is cut off.")
  })

  it.each([
    ["spaces", "<rss>", " "],
    ["a comment", "<rss><!--", "x"],
    ["a tag", "<rss><a ", 'b="c" '],
    ["unescaped <", "<rss>", "<"]
  ])("may have text of any length outside of its items: %s", async (_name, begin, part) => {
    assert.include((await problemOf(begin, part)).problem, "it is cut off")
  })

  it("continues with the next item after one that is too long", async () => {
    const long = `<item><![CDATA[${"x".repeat(1_200_000)}</item>`
    const { items } = await read(rss(long, "<item>2</item>", `<item>${"y".repeat(1_200_000)}</item>`, "<item>4</item>"))
    assert.deepStrictEqual(
      items.map(({ number, problem }) => [number, problem === null]),
      [
        [1, false],
        [2, true],
        [3, false],
        [4, true]
      ]
    )
  })
})

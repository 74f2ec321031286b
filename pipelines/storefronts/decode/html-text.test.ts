import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import { htmlToLine, htmlToText } from "./html-text.ts"

const lines = (html: string) => htmlToText(html)?.split("\n") ?? []

describe("descriptions as text", () => {
  it("keep headings, paragraphs and line breaks", () => {
    assert.deepStrictEqual(lines("<h2>About it</h2><p>One<br>two</p>\n<p>Three <b>four</b></p>"), [
      "About it",
      "",
      "One",
      "two",
      "",
      "Three four"
    ])
  })

  it("keep lists, and lists within lists", () => {
    const html = "<ul><li>Flour<ul><li>Rye</li></ul></li><li>Water</li></ul><ol><li>Mix</li><li>Bake</li></ol>"
    assert.deepStrictEqual(lines(html), ["- Flour", "  - Rye", "- Water", "", "1. Mix", "2. Bake"])
  })

  it("keep lists in a list without an item, and items without a list", () => {
    assert.deepStrictEqual(lines("<ul><li>Flour</li><ul><li>Rye</li></ul></ul><p>See <li>Oats</li><li>Bran</li>"), [
      "- Flour",
      "  - Rye",
      "",
      "See",
      "Oats",
      "Bran"
    ])
  })

  it("leave out items that contain only pictures or whitespace, but count them", () => {
    assert.deepStrictEqual(
      lines("<ul><li>a</li><li><img src=a></li><li>&nbsp;</li></ul><ol><li>b</li><li> </li><li>c<p>d</ol>"),
      ["- a", "", "1. b", "3. c", "", "   d"]
    )
  })

  it("number lists in digits from 1, even if the HTML specifies letters or another start", () => {
    assert.deepStrictEqual(lines('<ol type="i" start="100000">before<li>Mix</li></ol>'), ["before", "1. Mix"])
  })

  it("keep the rows of tables, and separate their cells with |", () => {
    const html = `<table><thead><tr><th>Size</th><th>Chest</th></tr></thead><tbody>
      <tr><td><p>S</p></td><td></td><td><p>90</p><p>cm</p></td></tr></tbody></table>after`
    assert.deepStrictEqual(lines(html), ["Size | Chest", "S | | 90 cm", "", "after"])
  })

  it("mark an empty cell before another one, and leave out empty ends of rows", () => {
    const html = "<table><tr><td></td><td>a</td></tr><tr><td>b</td><td><img></td></tr><tr><td> </td></tr></table>"
    assert.deepStrictEqual(lines(`x${html}y`), ["x", "", "| a", "b", "", "y"])
  })

  it("keep the line breaks of preformatted text", () => {
    assert.deepStrictEqual(lines("one\ntwo<pre>three\r\nfour  five</pre>six\nseven"), [
      "one two",
      "",
      "three",
      "four five",
      "",
      "six seven"
    ])
  })

  it("have no line for an empty tag", () => {
    assert.strictEqual(htmlToText("one<div></div>two <div> <span></span> </div>three"), "one\ntwo\nthree")
  })

  it("keep the words of links, and leave out addresses and pictures", () => {
    const html = '<p>See <a href="https://example.com/care">how to wash</a><img src="a.jpg" alt="tag"> it</p>'
    assert.strictEqual(htmlToText(html), "See how to wash it")
  })

  it.each(["script", "style", "noscript", "template", "iframe", "svg", "object"])(
    "leave out the content of %s",
    (name) => {
      assert.strictEqual(htmlToText(`<p>Jam</p><${name}>hidden()</${name}><p>Tin</p>`), "Jam\n\nTin")
    }
  )

  it.each(["textarea", "xmp", "listing", "noscript", "noembed", "noframes"])(
    "leave out a script in %s, even within a comment",
    (name) => {
      const script = "<script>alert(4)</script>"
      const html = `<p>Jam</p><${name}>a ${script} <!-- ${script} --> b</${name}><p>Tin</p>`
      assert.strictEqual(htmlToText(html), "Jam\n\nTin")
      assert.strictEqual(htmlToText(`<p>Jam</p><${name}>a ${script}`), "Jam")
    }
  )

  it("decode entities, and do not read a decoded bracket as a tag", () => {
    assert.strictEqual(htmlToText("<p>Salt &amp; pepper &#8211; 5 &lt;b&gt; &eacute;</p>"), "Salt & pepper – 5 <b> é")
    assert.strictEqual(htmlToText("Salt &amp; pepper\n5 &lt; 6"), "Salt & pepper\n5 < 6")
    assert.strictEqual(htmlToText("a &amp;amp; b"), "a &amp; b")
  })

  it("have the same entities as all other texts", () => {
    assert.strictEqual(htmlToText("<p>a&#0;b &#150; c&comma; &bogus; d&nbsp</p>"), "a b – c, &bogus; d")
    assert.strictEqual(htmlToLine("a&#0;b &copy"), "a b ©")
  })

  it("collapse no-break spaces, and drop lines that contain nothing else", () => {
    assert.deepStrictEqual(lines("<p>One&nbsp;&nbsp; two</p><p>&nbsp;</p><p>&nbsp;</p><p>&nbsp;three</p>"), [
      "One two",
      "",
      "three"
    ])
  })

  it("keep their line breaks when they have no tags", () => {
    assert.strictEqual(htmlToText("5 < 6 \r\n\r\n\r\n\r\nnext\tline "), "5 < 6\n\nnext line")
  })

  it.each([
    "",
    "   ",
    "<p></p>",
    "<p>&nbsp;</p>",
    "<script>x()</script>",
    "<img src=a>",
    "<ul><li><img src=a></li></ul>",
    null,
    undefined,
    5
  ])("are null for %j", (html) => {
    assert.isNull(htmlToText(html))
  })
})

describe("malicious descriptions", () => {
  it("leave out text that is nested too deeply in 100,000 tags", () => {
    assert.strictEqual(htmlToText(`top${"<div>".repeat(100_000)}deep`), "top")
    assert.strictEqual(htmlToText(`top${"<ul><li>".repeat(100_000)}deep`), "top")
    assert.strictEqual(htmlToText(`${"<b>".repeat(100_000)}${"</i>".repeat(100_000)}`), null)
  })

  it("are read at 60 levels of tags", () => {
    assert.strictEqual(htmlToText(`${"<div>".repeat(60)}deep${"</div>".repeat(60)}`), "deep")
  })

  it("are truncated to at most 200,000 characters if they have 10 MB", () => {
    const text = htmlToText("<p>abc <b>d</b></p>\n".repeat(500_000)) ?? ""
    assert.isTrue(text.startsWith("abc d\n\nabc d"))
    assert.isBelow(text.length, 200_000)
    assert.isAtMost(htmlToText("a".repeat(10_000_000))?.length ?? 0, 200_000)
  })

  it("keep their words around a picture of 20 MB in the HTML", () => {
    const html = `<p>Before</p><img src="data:image/png;base64,${"A".repeat(20_000_000)}"><p>After</p>`
    assert.strictEqual(htmlToText(html), "Before\n\nAfter")
  })

  it.each([
    ["spaces", " "],
    ["no-break spaces", "\u00a0"],
    ["line breaks", "\n"],
    ["brackets", "<"],
    ["comments that never end", "<!--"],
    ["attributes", "<a x=1 "],
    ["cells", "<table><tr><td>"],
    ["entities that are not valid", "&#xffffffff;"]
  ])("do not fail with a million %s", (_, piece) => {
    assert.doesNotThrow(() => htmlToText(`y${piece.repeat(1_000_000)}x`))
    assert.doesNotThrow(() => htmlToText(`<p>y${piece.repeat(1_000_000)}x`))
  })

  it("become trimmed, well-formed text for any tags in any order", () => {
    const tags = "p div ul ol li table tr td th pre blockquote br hr a h1 dl dt svg script title b".split(" ")
    const piece = fc.oneof(
      fc.constantFrom(
        ...tags.flatMap((tag) => [`<${tag}>`, `</${tag}>`, `<${tag} start="-9" type="I" colspan="9e9">`])
      ),
      fc.constantFrom("&nbsp;", "&amp;", "&#0;", "&bogus;", " ", "\n", "\u00a0", "<", ">", "<!--", "]]>", "\ud83d"),
      fc.string({ unit: "binary", maxLength: 5 })
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = htmlToText(pieces.join(""))
        if (text === null) return
        assert.strictEqual(text, text.trim())
        assert.notMatch(text, /\n{3}|[^\S\n]\n/)
        assert.isTrue(text.isWellFormed())
      }),
      { numRuns: 500 }
    )
  })
})

describe("names as one line", () => {
  it.each([
    ["Salt &amp; Pepper", "Salt & Pepper"],
    ["Wire &#8211; 3&nbsp;mm", "Wire – 3 mm"],
    ["Tea<br>pot", "Tea pot"],
    ["5 < 6", "5 < 6"],
    ["  plain   name ", "plain name"],
    ["&nbsp;", null],
    [null, null]
  ])("%j becomes %j", (name, expected) => {
    assert.strictEqual(htmlToLine(name), expected)
  })
})

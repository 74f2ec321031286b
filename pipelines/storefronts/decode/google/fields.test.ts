import { assert, describe, it } from "@effect/vitest"
import { UnusableRow } from "../feed-errors.ts"
import { FeedStats } from "../feed-stats.ts"
import { type FieldName, fieldNames } from "./field-names.ts"
import { readFields } from "./fields.ts"

const read = (inner: string, prefixes = new Set(["g"])): Partial<Record<FieldName, ReadonlyArray<string>>> => {
  const { fields } = readFields(`<item>${inner}</item>`, prefixes, new FeedStats())
  return Object.fromEntries(fieldNames.flatMap((name) => (fields(name).length === 0 ? [] : [[name, fields(name)]])))
}
const findProblem = (inner: string): string => {
  try {
    read(inner)
  } catch (cause) {
    if (cause instanceof UnusableRow) return cause.message
    throw cause
  }
  return "none"
}

describe("the fields of a feed item", () => {
  it("come from Google's prefix, or else from no prefix", () => {
    assert.deepStrictEqual(
      read(
        "<title>a</title><g:title>b</g:title><link>c</link><x:brand>d</x:brand><g:link> </g:link><G:Brand>e</G:Brand>"
      ),
      { title: ["b"], link: ["c"], brand: ["e"] }
    )
  })

  it("come from the prefix that the feed binds to Google", () => {
    assert.deepStrictEqual(read("<m:id>1</m:id><g:title>a</g:title>", new Set(["m"])), { id: ["1"] })
  })

  it("never come from a nested element", () => {
    const inner = "<g:shipping><g:price>0.00 USD</g:price></g:shipping>"
    assert.deepStrictEqual(read(`${inner}<g:price>5 USD</g:price>${inner}`), { price: ["5 USD"] })
    assert.deepStrictEqual(read(`${inner}<g:title>5 <10</g:title>`), { title: ["5 <10"] })
  })

  it("are complete after a comment that ends in three hyphens, and after a script in capitals", () => {
    const fields = { id: ["1"], title: ["a <!-- b --->"], price: ["5 USD"] }
    const title = "<g:title><![CDATA[a <!-- b --->]]></g:title>"
    assert.deepStrictEqual(read(`<g:id>1</g:id><!--- c --->${title}<!-- d --><g:price>5 USD</g:price>`), fields)
    assert.deepStrictEqual(read(`<g:id>1</g:id><x><SCRIPT>c</SCRIPT></x>${title}<g:price>5 USD</g:price>`), fields)
  })

  it("keep each value of a field that occurs several times", () => {
    const links =
      "<g:additional_image_link>a</g:additional_image_link><g:additional_image_link>b</g:additional_image_link>"
    assert.deepStrictEqual(read(links), { additional_image_link: ["a", "b"] })
  })

  it("contain the href of an Atom entry's links, without the link to itself", () => {
    const links =
      '<link rel="self" href="self"/><LINK HREF="http://x.example/?a=1&amp;b=2&c=3"/><link rel="alternate" href="z"/>'
    assert.deepStrictEqual(read(`<title type="html">T</title><summary>S</summary>${links}`), {
      title: ["T"],
      summary: ["S"],
      link: ["http://x.example/?a=1&b=2&c=3", "z"]
    })
  })

  it.each([
    ["well-formed", ""],
    ["with an unescaped <", "<g:brand>5 <10</g:brand>"]
  ])("decode entities, but not in CDATA: %s", (_name, before) => {
    const inner = `${before}<g:title>a &amp; b & c &eacute;&#233;&#xE9; &lt;i&gt; &nbsp; &bogus; &#0; &#xD800; &toString;</g:title>`
    const { description, title } = read(
      `${inner}<g:description>x &amp; <![CDATA[<b>&amp;</b>]]><!-- c --> y</g:description>`
    )
    assert.deepStrictEqual(title, ["a & b & c ééé <i> \u00a0 &bogus;     &toString;"])
    assert.deepStrictEqual(description, ["x & <b>&amp;</b> y"])
  })

  it("are complete when an & is right before a tag", () => {
    const inner = "<g:title>5 <10</g:title><g:link>http://x.example/?a&</g:link><g:price>1 USD</g:price>"
    assert.deepStrictEqual(read(inner), { title: ["5 <10"], link: ["http://x.example/?a&"], price: ["1 USD"] })
    assert.deepStrictEqual(read("<g:title>&eacute; <<&eacute;</g:title>"), { title: ["é <<é"] })
  })

  it("keep the HTML of a description", () => {
    const html = "<p>Oats &amp; <b>honey</b></p>"
    assert.deepStrictEqual(read(`<description>${html}</description>`), { description: [html] })
    assert.deepStrictEqual(read("<description>a<br>b</description><price>1</price>"), {
      description: ["a<br>b"],
      price: ["1"]
    })
  })

  it("never come from elements that are named like properties of JavaScript", () => {
    const inner =
      "<__proto__><price>1</price></__proto__><constructor>1</constructor><toString>2</toString><g:id>3</g:id>"
    assert.deepStrictEqual(read(inner), { id: ["3"] })
  })

  it("do not resolve entities that a document declares", () => {
    assert.deepStrictEqual(read('<!DOCTYPE a [<!ENTITY b "c">]><g:title>&b;</g:title>'), { title: ["&b;"] })
  })
})

describe("fields with broken markup", () => {
  it.each([
    ["an unescaped < before a letter", "<g:title>5 <b kg</g:title><g:price>1 USD</g:price>"],
    [
      "a description that contains fields",
      "<g:price>1 USD</g:price><description>a <b and c</description><g:brand>B</g:brand>"
    ],
    ["a title without an end tag", "<g:title>a<g:price>1 USD</g:price><g:brand>B</g:brand>"],
    ["a description without an end tag", "<price>1</price><description>a<brand>B</brand>"],
    ["markup in a price", "<g:price><b>1</b> USD</g:price>"],
    ["a field with a different name and without an end tag", "<g:price>1</g:price><g:foo>a<g:brand>B</g:brand>"]
  ])("reject an item with %s", (_name, inner) => {
    assert.match(findProblem(inner), /^its \S+ contains <\S+>: perhaps a "<" in it is not escaped$/)
  })

  it.each([
    ["well-formed", "<a>".repeat(60) + "</a>".repeat(60)],
    ["not closed", "<a>".repeat(60)],
    ["a hundred thousand times", "<a>".repeat(100_000)]
  ])("reject more than 50 nested elements, %s", (_name, inner) => {
    assert.strictEqual(findProblem(inner), "more than 50 elements are nested in it")
  })

  it.each([
    ["unescaped <", "<".repeat(900_000)],
    ["tags that do not end", "<a ".repeat(300_000)],
    ["attributes that do not end", '<a b="'.repeat(150_000)],
    ["end tags", "</a>".repeat(200_000)],
    ["comments in an attribute", `<a b="<![CDATA["> ${"<!-- ".repeat(150_000)}]]>`],
    ["entities", `<g:title>${"&amp;".repeat(190_000)}</g:title>`],
    ["fields", "<g:title>x</g:title>".repeat(45_000)],
    ["attributes", `<a ${'b="c" '.repeat(150_000)}/>`],
    ["prefixes", `<a ${" xmlns:b".repeat(100_000)}${" ".repeat(100_000)}/>`],
    ["many attributes", `<a ${Array.from({ length: 60_000 }, (_, number) => `b${number}="c" `).join("")}/>`]
  ])("are read without delay from up to 950,000 characters of %s", (_name, inner) => {
    // Each would take minutes if time grew with their square.
    assert.doesNotThrow(() => findProblem(inner))
  })
})

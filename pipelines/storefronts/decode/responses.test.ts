import { assert, describe, it } from "@effect/vitest"
import { parseResponse, UnexpectedResponse } from "./responses.ts"

const list = '[{"id":1,"html":"<p class=\\"a\\">}] \\\\</p>","none":[]}]'
const value: unknown = JSON.parse(list)
const fail = (text: string) => {
  try {
    parseResponse(text)
  } catch (cause) {
    if (cause instanceof UnexpectedResponse) return { kind: cause.kind, problem: cause.problem }
    throw cause
  }
  return assert.fail("it was read")
}

const notice = '<br />\n<b>Warning</b>:  Undefined array key "[]" in <b>/var/www/a.php</b> on line <b>3</b><br />\n'

describe("the JSON of a response", () => {
  it.each([
    ["a theme prints markup before it", `<span class="icon"><svg><path d="M4{"/></svg></span>${list}`],
    ["a theme opens elements before it", `<div id="page" data-x='{"a":1}'><header>Shop</header>${list}`],
    ["a theme prints scripts and styles before it", `<style>a{"b"}</style><script>if (1<2) x = [{}]</script>\n${list}`],
    ["PHP prints a notice before it", notice + list],
    [
      "PHP prints several notices as text before it",
      `\nNotice: [0] => {} in a.php on line 3\nPHP Warning:  b\n${list}`
    ],
    ["there is a comment before it", `<!-- a "quote, {"x":1} -->${list}`],
    ["there is a comment after it", `${list}\n<!-- cached page: it's 3 < 4 -->`],
    ["there is a script after it", `${list}<script async>document.write("</p>" + [1])</script>\n`],
    ["there is a notice after it", list + notice],
    ["there is a comment after it that does not end", `${list}<!-- a`],
    ["there are elements after it", `${list}<div class="debug">3 queries<br>0.1 s</div>`],
    ["there are NULs around it", `\0${list}\0\0`],
    ["there are byte order marks around it", `\uFEFF\uFEFF ${list}\uFEFF\n`],
    ["there is markup around it", `<p>Sale</p>${list}<!-- end -->`]
  ])("is read when %s", (_, text) => {
    assert.deepStrictEqual(parseResponse(text), value)
  })

  it("is read after markup when a text in it is a web page", () => {
    const page = [{ id: 1, html: "<!doctype html><html><body>a</body></html>" }]
    assert.deepStrictEqual(parseResponse(notice + JSON.stringify(page)), page)
  })

  it("is read when it is an empty list after markup", () => {
    assert.deepStrictEqual(parseResponse(`<span class="icon"><svg><path d="M4"/></svg></span>[]<!-- cached -->`), [])
  })

  it.each([
    ["a notice before it", `${notice}[]`],
    ["an error that contains it", "<br />\n<b>Fatal error</b>: Cannot use object as array: []<br />"],
    ["an error of the database before it", '<div id="error"><p>WordPress database error</p></div>[]'],
    ["a notice after it", `[]${notice}`]
  ])("is refused when it is an empty list with %s: it may be an error in place of a page", (_, text) => {
    assert.match(fail(text).problem, /^the response has a message with an empty list, /)
  })

  it("is read when it is an object in an element", () => {
    assert.deepStrictEqual(parseResponse('<pre>{"products": []}</pre>'), { products: [] })
  })

  it.each([
    ["text after it", `${list}0`, 'the response has text after its JSON that is not markup: "0"'],
    [
      "text after a comment",
      `${list}<!-- a -->b`,
      'the response has text after its JSON that is not markup: "<!-- a -->b"'
    ],
    ["a second list", `${list}[{"id":2}]`, 'the response has text after its JSON that is not markup: "[{\\"id\\":2}]"'],
    [
      "more than 64 KiB after it",
      `${list}<!--${"a".repeat(65_536)}-->`,
      `the response has text after its JSON that is not markup: "<!--${"a".repeat(96)}"`
    ],
    [
      "text after it and markup before it",
      `<p>Sale</p>${list} and more`,
      'the response has text after its JSON that is not markup: "and more"'
    ]
  ])("is refused with %s, which is named", (_, text, problem) => {
    assert.deepStrictEqual(fail(text), { kind: "not json", problem })
  })

  it("is cut off after a notice: both are named", () => {
    const { kind, problem } = fail(notice + list.slice(0, -9))
    assert.strictEqual(kind, "not json")
    assert.match(problem, /^the response has markup before its JSON, "<br .*", and the JSON is cut off or damaged: \S/)
  })

  it.each([
    ["cut off", list.slice(0, -9)],
    ["damaged", '[{"id":1,}]'],
    ["damaged before a comment", '[{"id":1,}]<!-- cached page -->'],
    ["text", "callback([{}])"],
    ["a table with JSON in a cell", 'id,title\n1,"[{""a"":1}]"\n']
  ])("is missing if the response is %s", (_, text) => {
    const { kind, problem } = fail(text)
    assert.strictEqual(kind, "not json")
    assert.match(problem, /^the response is not JSON, or is cut off: \S/)
  })

  it("is not searched in a response of XML, which is named", () => {
    const { kind, problem } = fail(`<?xml version="1.0"?><rss><channel><title>{"a":1}</title></channel></rss>`)
    assert.strictEqual(kind, "not json")
    assert.include(problem, "XML instead of JSON")
  })

  it.each([
    ["with a doctype", `<!DOCTYPE html><title>Shop</title>${list}`, ' "Shop"'],
    ["with a comment before it", `<!-- a --><html><body>${list}</body></html>`, ""],
    ["with a notice before it", `${notice}<html><p>${list}</p></html>`, ""],
    ["with a head only", `<head lang="en">${list}`, ""],
    ["that is XHTML", `<?xml version="1.0"?><!DOCTYPE html>${list}`, ""],
    ["with text and JSON", `<p>Wait</p>Enable JavaScript ${list}`, ""],
    ["whose JSON is in scripts", `<form action="/password"></form><script>x = ${list}</script>`, ""]
  ])("is not searched in a web page %s", (_, text, title) => {
    assert.deepStrictEqual(fail(text), { kind: "html", problem: `the response is a web page${title} instead of JSON` })
  })

  it("is searched in the first 64 KiB only", () => {
    const pad = (length: number) => `<!--${"x".repeat(length - 7)}-->`
    assert.deepStrictEqual(parseResponse(pad(65_534) + list), value)
    assert.strictEqual(fail(pad(65_537) + list).kind, "html")
  })

  const megabytes = 4_000_000
  it.each([
    ["empty brackets", `<b>${"[]".repeat(30_000)}${"x".repeat(megabytes)}`],
    ["opening brackets", `<b>${"[".repeat(megabytes)}`],
    ["opening braces with blanks", `<b>${"{ ".repeat(30_000)}${" ".repeat(megabytes)}`],
    ["unclosed quotes", `<b>${'<a b="'.repeat(10_000)}${"<a b='".repeat(megabytes / 6)}`],
    ["tags", `${list}${"<b>".repeat(megabytes / 3)}`],
    ["unclosed scripts", `${list}${"<script>".repeat(megabytes / 8)}`],
    ["unclosed comments", `${list}${"<!--".repeat(megabytes / 4)}`],
    ["scripts", `${list}${"<script></script>".repeat(megabytes / 17)}`],
    ["angle brackets", `${list}${"<".repeat(megabytes)}`],
    ["quotes", `[${'"\\\\'.repeat(megabytes / 3)}`]
  ])("is searched to the end in megabytes of %s", (_, text) => {
    assert.strictEqual(typeof fail(text).problem, "string")
  })
})

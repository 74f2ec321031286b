import { assert, describe, it } from "@effect/vitest"
import { renderMarkdown } from "./markdown.ts"

describe("a guide as HTML", () => {
  it.each([
    ["# Errors & retries", '<h1 id="errors--retries">Errors &amp; retries</h1>'],
    ["### `a.b_c(d)`", '<h3 id="ab_cd"><code>a.b_c(d)</code></h3>'],
    ["### `unknown_store`", '<h3 id="unknown_store"><code>unknown_store</code></h3>'],
    ["one\ntwo", "<p>one two</p>"],
    ["- a\n- b\n  c", "<ul><li>a</li>\n<li>b c</li></ul>"],
    ["1. a\n2. b", "<ol><li>a</li>\n<li>b</li></ol>"],
    ["**`a` is b**, c", "<p><strong><code>a</code> is b</strong>, c</p>"],
    ["[the `a`](/docs/b)", '<p><a href="/docs/b">the <code>a</code></a></p>'],
    ["`**a** [b](/c) <d>`", "<p><code>**a** [b](/c) &lt;d&gt;</code></p>"],
    ['<script>"x"</script> & y', "<p>&lt;script&gt;&quot;x&quot;&lt;/script&gt; &amp; y</p>"],
    ["[a](javascript:b)", "<p>[a](javascript:b)</p>"],
    ["`a` 0 `b`", "<p><code>a</code> 0 <code>b</code></p>"]
  ])("renders %j", (markdown, html) => {
    assert.strictEqual(renderMarkdown(markdown), html)
  })
  it("keeps the content of a code fence unchanged, including blank lines", () => {
    assert.strictEqual(
      renderMarkdown("## Try\n\n```sh\na <b>\n\n| c |\n```\n\nd"),
      '<h2 id="try">Try</h2>\n<pre data-copy tabindex="0" role="group" aria-label="Commands: Try"><code>a &lt;b&gt;\n\n| c |</code></pre>\n<p>d</p>'
    )
  })
  it("puts a table into a scrolling box, and right-aligns columns of numbers", () => {
    const html = renderMarkdown("## Prices\n\n| Call | Credits |\n| --- | ---: |\n| `a \\| b` | 10 |")
    assert.include(html, '<div class="scroll" tabindex="0" role="group" aria-label="Prices">')
    assert.include(html, "<table>\n")
    assert.include(html, '<th scope="col" class="numeric">Credits</th>')
    assert.include(html, '<tr><th scope="row"><code>a | b</code></th><td class="numeric">10</td></tr>')
  })
  it("labels the cells of wide tables, which become cards on a phone, and does not wrap names in them", () => {
    const html = renderMarkdown("| A | `b` | C |\n| --- | --- | ---: |\n| a | `x-y` | 1 |\n| b | `x y` | 2 |")
    assert.include(html, '<table class="stacked">')
    assert.include(
      html,
      '<td class="nowrap" data-label="b"><code>x-y</code></td><td class="numeric" data-label="C">1</td>'
    )
    assert.include(html, '<td data-label="b"><code>x y</code></td>')
  })
})

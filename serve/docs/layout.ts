/** The HTML pages of the docs: a guide with the list of all guides, and the page that shows the reference. */
import { html, raw } from "hono/html"
import { sampleBanner } from "../api/index.ts"
import { docsAssetPaths } from "./assets.ts"
import { type Guide, guides } from "./guides.ts"

/** HTML that may be inserted into a page; its template escapes the values in it. */
type Html = ReturnType<typeof html>

const mark = html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><rect x="3" y="3" width="18" height="18" rx="4"/><path d="M7 9.5h10M7 14.5h10"/></svg>`

export const referencePath = "/docs/reference"

/** The reference has its own header element, and a page has only one: there the bar is a named region of the page. */
const bar = ({ consoleUrl, kind }: Framed) => {
  const isReference = kind === "reference"
  const current = (is: boolean) => is && html` aria-current="${isReference ? "page" : "true"}"`
  const content = html`<div class="container">
<a class="brand" href="/docs">${mark}Larder</a>
<nav aria-label="Docs"><ul>
<li><a href="/docs"${current(!isReference)}>Guides</a></li>
<li><a href="${referencePath}"${current(isReference)}>Reference</a></li>
<li><a href="/openapi.json">OpenAPI</a></li>
</ul></nav>
${isReference && html`<p class="hint">Calls that you try out are real, and paid with your key.</p>`}
${consoleUrl && html`<a class="aside" href="${consoleUrl}/">Console</a>`}
</div>`
  return isReference
    ? html`<div class="top" role="region" aria-label="Docs of Larder">${content}</div>`
    : html`<header class="top no-print">${content}</header>`
}

type Kind = "guide" | "reference"

/** The parts around the content, on both kinds of pages. */
interface Around {
  /** Omitted if the console's address for the reader is unknown. */
  readonly consoleUrl: string | undefined
  /** Notice about samples; omitted if there are none. */
  readonly samples: string | undefined
}

interface Framed extends Around {
  readonly title: string
  readonly head?: Html
  readonly body: Html
  readonly kind: Kind
}

const renderPage = async (of: Framed): Promise<string> => {
  const style = of.kind === "reference" ? docsAssetPaths.referenceStyle : docsAssetPaths.style
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${of.title} – Larder</title>
<link rel="icon" type="image/svg+xml" href="${docsAssetPaths.icon}">
<link rel="stylesheet" href="${style}">
${of.head}
</head>
<body class="docs ${of.kind}">
<a class="skip" href="#content">Skip to the content</a>
${bar(of)}
${sampleBanner(of.samples)}
${of.body}
</body>
</html>
`
  return String(await page)
}

/** `content` is the guide as HTML. */
export const renderGuide = (
  { path, title }: Guide,
  { content, ...around }: Around & { readonly content: string }
): Promise<string> => {
  const all = guides()
  const at = all.findIndex((is) => is.path === path)
  const [before, after] = [all[at - 1], all[at + 1]]
  return renderPage({
    ...around,
    kind: "guide",
    title,
    head: html`<link rel="alternate" type="text/markdown" href="${path}.md">
<script type="module" src="${docsAssetPaths.script}"></script>`,
    body: html`<div class="container shelf">
<nav class="tabs guides no-print" aria-label="Guides"><ul>${all.map(
      (one) => html`<li><a href="${one.path}"${one.path === path && html` aria-current="page"`}>${one.label}</a></li>`
    )}</ul></nav>
<main id="content" tabindex="-1"><article>
${raw(content)}
</article>
<nav class="turn no-print" aria-label="Next and previous guide">${
      before && html`<a rel="prev" href="${before.path}"><small>Previous</small> ${before.label}</a>`
    }${after && html`<a rel="next" href="${after.path}"><small>Next</small> ${after.label}</a>`}</nav>
</main>
</div>
<footer class="no-print"><div class="container"><p>Larder: market data, paid by the call. 1,000 credits are 1.00 USD. This page as <a href="${path}.md">Markdown</a>; all of them for machines: <a href="/llms.txt">llms.txt</a>.</p></div></footer>`
  })
}

/** Scalar adds its style sheets to the page by itself; the page's policy allows those that carry the nonce. */
export const renderReference = ({
  nonce,
  scalar,
  ...around
}: Around & { readonly nonce: string; readonly scalar: string }): Promise<string> =>
  renderPage({
    ...around,
    kind: "reference",
    title: "Reference",
    head: html`<meta property="csp-nonce" content="${nonce}">
<link rel="preload" as="script" href="${scalar}">
<script type="module" src="${docsAssetPaths.referenceScript}"></script>`,
    body: html`<div id="content" tabindex="-1">
<div id="reference" data-script="${scalar}"><p class="container waiting">The reference is being drawn. It needs JavaScript; without it, <a href="/openapi.json">the OpenAPI document</a> and <a href="/docs">the guides</a> say the same.</p></div>
</div>
<div id="cost" class="cost" role="status" aria-live="polite" aria-atomic="true"></div>`
  })

/** The HTML pages of the docs: a guide with the list of all guides, and the page that shows the reference. */
import { html, raw } from "hono/html"
import { renderSampleBanner } from "../api/index.ts"
import { docsAssetPaths } from "./assets.ts"
import { type Guide, guides } from "./guides.ts"

/** HTML that may be inserted into a page; its template escapes the values in it. */
type Html = ReturnType<typeof html>

const logo = html`<svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false"><rect x="3" y="3" width="18" height="18" rx="4"/><path d="M7 9.5h10M7 14.5h10"/></svg>`

export const referencePath = "/docs/reference"

interface PageOptions {
  /** Undefined if the address of the console for this reader is unknown. */
  readonly consoleUrl: string | undefined
  /** The notice about sample data; undefined if none is served. */
  readonly sampleNotice: string | undefined
}

interface PageContent extends PageOptions {
  readonly kind: "guide" | "reference"
  readonly title: string
  readonly head: Html
  readonly body: Html
}

/** Scalar adds a header to the reference, and a page has only one, so the bar is a labelled region there. */
const renderBar = ({ consoleUrl, kind }: PageContent) => {
  const isReference = kind === "reference"
  const current = (isCurrent: boolean) => isCurrent && html` aria-current="${isReference ? "page" : "true"}"`
  const content = html`<div class="container">
<a class="brand" href="/docs">${logo}Larder</a>
<nav aria-label="Docs"><ul>
<li><a href="/docs"${current(!isReference)}>Guides</a></li>
<li><a href="${referencePath}"${current(isReference)}>Reference</a></li>
<li><a href="/openapi.json">OpenAPI</a></li>
</ul></nav>
${isReference && html`<p class="hint">Calls made from this page are real and are charged to your key.</p>`}
${consoleUrl && html`<a class="aside" href="${consoleUrl}/">Console</a>`}
</div>`
  return isReference
    ? html`<div class="top" role="region" aria-label="Docs of Larder">${content}</div>`
    : html`<header class="top no-print">${content}</header>`
}

const renderPage = async (page: PageContent): Promise<string> =>
  String(
    await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} – Larder</title>
<link rel="icon" type="image/svg+xml" href="${docsAssetPaths.icon}">
<link rel="stylesheet" href="${page.kind === "reference" ? docsAssetPaths.referenceStyle : docsAssetPaths.style}">
${page.head}
</head>
<body class="docs ${page.kind}">
<a class="skip" href="#content">Skip to the content</a>
${renderBar(page)}
${renderSampleBanner(page.sampleNotice)}
${page.body}
</body>
</html>
`
  )

/** `content` is the guide as HTML. */
export const renderGuide = ({ path, title }: Guide, content: string, options: PageOptions): Promise<string> => {
  const allGuides = guides()
  const index = allGuides.findIndex((guide) => guide.path === path)
  const [previous, next] = [allGuides[index - 1], allGuides[index + 1]]
  const items = allGuides.map(
    (guide) =>
      html`<li><a href="${guide.path}"${guide.path === path && html` aria-current="page"`}>${guide.label}</a></li>`
  )
  return renderPage({
    ...options,
    kind: "guide",
    title,
    head: html`<link rel="alternate" type="text/markdown" href="${path}.md">
<script type="module" src="${docsAssetPaths.script}"></script>`,
    body: html`<div class="container guide-layout">
<nav class="tabs guides no-print" aria-label="Guides"><ul>${items}</ul></nav>
<main id="content" tabindex="-1"><article>
${raw(content)}
</article>
<nav class="pager no-print" aria-label="Next and previous guide">${
      previous && html`<a rel="prev" href="${previous.path}"><small>Previous</small> ${previous.label}</a>`
    }${next && html`<a rel="next" href="${next.path}"><small>Next</small> ${next.label}</a>`}</nav>
</main>
</div>
<footer class="no-print"><div class="container"><p>Larder: pay-per-call market data. 1,000 credits cost 1.00 USD. This page is also available as <a href="${path}.md">Markdown</a>. An index of all guides for language models: <a href="/llms.txt">llms.txt</a>.</p></div></footer>`
  })
}

/** `scalar` is the path of Scalar. It adds its style sheets to the page; the policy allows those with the nonce. */
export const renderReference = (nonce: string, scalar: string, options: PageOptions): Promise<string> =>
  renderPage({
    ...options,
    kind: "reference",
    title: "Reference",
    head: html`<meta property="csp-nonce" content="${nonce}">
<link rel="preload" as="script" href="${scalar}">
<script type="module" src="${docsAssetPaths.referenceScript}"></script>`,
    body: html`<div id="content" tabindex="-1">
<div id="reference" data-script="${scalar}"><p class="container waiting">Loading the reference. It needs JavaScript; without it, <a href="/openapi.json">the OpenAPI document</a> and <a href="/docs">the guides</a> contain the same information.</p></div>
</div>
<div id="cost" class="cost" role="status" aria-live="polite" aria-atomic="true"></div>`
  })

/**
 * Converts the subset of Markdown that the guides use to HTML: headings, paragraphs, flat lists, tables, fenced code,
 * and inline code, bold and links. Other syntax stays text. All text is escaped, although we write the guides ourselves.
 */

const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** The anchor of a heading, as on GitHub: `Errors and retries` becomes `errors-and-retries`, `data_sets.id` `data_setsid`. */
const makeAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^a-z0-9_ -]/g, "")
    .replaceAll(" ", "-")

const isAllowedLink = (href: string) => /^(https?:\/\/|\/|#)/.test(href)

/** Inline code contains no other markup. Placeholders replace it while bold text and links are converted. */
const renderInline = (text: string): string => {
  const codes: Array<string> = []
  const withoutCode = text.replace(
    /`([^`]+)`/g,
    (_, code: string) => `\u0000${codes.push(`<code>${escapeHtml(code)}</code>`) - 1}\u0000`
  )
  return escapeHtml(withoutCode)
    .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, (link, name: string, href: string) =>
      isAllowedLink(href) ? `<a href="${href}">${name}</a>` : link
    )
    .split("\u0000")
    .map((part, index) => (index % 2 === 1 ? (codes[Number(part)] ?? "") : part))
    .join("")
}

const splitCells = (row: string): ReadonlyArray<string> =>
  row
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"))

const renderTable = (rows: ReadonlyArray<string>, caption: string): string => {
  const [head = "", rule = "", ...body] = rows
  const numeric = splitCells(rule).map((cell) => (cell.endsWith(":") ? ' class="numeric"' : ""))
  const names = splitCells(head)
  const headings = names.map((cell, i) => `<th scope="col"${numeric[i] ?? ""}>${renderInline(cell)}</th>`)
  // two columns fit on a phone; there, rows with more columns become cards with labelled values
  const isStacked = names.length > 2
  const labels = names.map((name) => (isStacked ? ` data-label="${escapeHtml(name.replaceAll("`", ""))}"` : ""))
  // a cell that is only inline code does not wrap at hyphens
  const noWrapClass = (cell: string) => (/^`\S+`$/.test(cell) ? ' class="nowrap"' : "")
  const lines = body.map((row) => {
    const [first = "", ...rest] = splitCells(row)
    const cells = rest.map(
      (cell, i) => `<td${numeric[i + 1] || noWrapClass(cell)}${labels[i + 1] ?? ""}>${renderInline(cell)}</td>`
    )
    return `<tr><th scope="row">${renderInline(first)}</th>${cells.join("")}</tr>`
  })
  const label = escapeHtml(caption)
  return `<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table${isStacked ? ' class="stacked"' : ""}>
<caption class="hidden">${label}</caption>
<thead><tr>${headings.join("")}</tr></thead>
<tbody>${lines.join("\n")}</tbody>
</table></div>`
}

const languages: Readonly<Record<string, string>> = {
  sh: "Commands",
  http: "Response",
  json: "Response",
  ts: "TypeScript",
  py: "Python",
  sql: "SQL"
}

/** Blank lines separate blocks; a fenced block may contain blank lines. */
const splitBlocks = (markdown: string): ReadonlyArray<string> =>
  markdown
    .split(/(^```[^\n]*\n[\s\S]*?^```$)/m)
    .flatMap((part) => (part.startsWith("```") ? [part] : part.split(/\n{2,}/)))
    .map((block) => block.replace(/^\n+|\s+$/g, ""))
    .filter((block) => block !== "")

export const renderMarkdown = (markdown: string): string => {
  let heading = ""
  return splitBlocks(markdown)
    .map((block) => {
      const lines = block.split("\n")
      const [first = ""] = lines
      const [, hashes = "", title = ""] = /^(#{1,3}) (.*)$/.exec(first) ?? []
      if (title !== "") {
        heading = title
        const level = hashes.length
        return `<h${level} id="${makeAnchor(title)}">${renderInline(title)}</h${level}>`
      }
      if (first.startsWith("```")) {
        const language = first.slice(3).trim()
        const label = languages[language] ?? "Text"
        const code = escapeHtml(lines.slice(1, -1).join("\n"))
        const copy = label === "Response" ? "" : " data-copy"
        return `<pre${copy} tabindex="0" role="group" aria-label="${label}: ${escapeHtml(heading)}"><code>${code}</code></pre>`
      }
      if (first.startsWith("|")) return renderTable(lines, heading)
      if (/^(- |\d+\. )/.test(first)) {
        const tag = first.startsWith("- ") ? "ul" : "ol"
        const items = block
          .split(/\n(?=- |\d+\. )/)
          .map((item) => item.replace(/^(- |\d+\. )/, "").replace(/\n\s*/g, " "))
        return `<${tag}>${items.map((item) => `<li>${renderInline(item)}</li>`).join("\n")}</${tag}>`
      }
      return `<p>${renderInline(lines.join(" "))}</p>`
    })
    .join("\n")
}

/** Compares the runbook with the code: what it quotes, and the alerts that lead to it. */
import { describe, expect, it } from "vitest"
import { findFences, readDocument, readSources } from "./documents.ts"

const runbook = readDocument("docs/runbook.md")
const rules = readDocument("ops/alerts.yml").text
const headings = [...runbook.text.matchAll(/^## (.+)$/gm)].map(([, heading = ""]) => heading)
const anchors = headings.map((heading) => heading.toLowerCase().replaceAll(" ", "-"))

/** Texts in programs and views, with line breaks as the reader of the output sees them. */
const sources = [
  ...readSources(["schemas", "warehouse", "pipelines", "serve"], (file) => !file.endsWith(".test.ts")),
  readDocument("warehouse/tables/ingest/freshness.sql").text
]

const contains = (source: string, fragments: ReadonlyArray<string>) => {
  let from = 0
  return fragments.every((fragment) => {
    const found = source.indexOf(fragment, from)
    from = found + fragment.length
    return found !== -1
  })
}

const quoted = findFences(runbook)
  .filter(({ language }) => language === "text")
  .flatMap(({ text }) => text.trim().split("\n"))

describe("docs/runbook.md", () => {
  it.each(quoted)("quotes what a program prints: %s", (line) => {
    const fragments = line
      .split("…")
      .map((part) => part.trim())
      .filter((part) => part.length > 2)
    expect(fragments.join("").length).toBeGreaterThan(8)
    expect(sources.some((source) => contains(source, fragments))).toBe(true)
  })

  it("has a section for each alert, which names it", () => {
    const alerts = [...rules.matchAll(/- alert: (\w+)[\s\S]*?runbook: docs\/runbook\.md#(\S+)/g)]
    expect(alerts.length).toBe(7)
    const sections = runbook.text.split(/^## /m).slice(1)
    for (const [, alert = "", anchor = ""] of alerts) {
      expect(anchors, alert).toContain(anchor)
      expect(sections[anchors.indexOf(anchor)], alert).toContain(`\`${alert}\``)
    }
  })
})

describe("docs/monitoring.md", () => {
  it("lists the alerts of ops/alerts.yml", () => {
    const listed = [...readDocument("docs/monitoring.md").text.matchAll(/^\| `(Larder\w+)` \|/gm)].map(
      ([, name]) => name
    )
    expect(listed).toEqual([...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name))
  })
})

/** Checks of the live generation: queries that return bad rows. Those that found some are first. */
import { Effect } from "effect"
import { DataRead, type ShownCheck } from "../data-read.ts"
import { badge, count, empty, type Html, html, type Part, table } from "../html.ts"
import { type Page, show } from "../page.ts"
import { dataNavigation, named, pipelineName, runPath } from "./data-pieces.ts"

const resultOf = ({ bad_rows, severity }: ShownCheck): Html => {
  if (bad_rows === 0) return badge("passed", "good")
  return badge(`${count(bad_rows)} bad ${bad_rows === 1 ? "row" : "rows"}`, severity === "error" ? "bad" : "warning")
}

export const checkTable = (caption: string, checks: ReadonlyArray<ShownCheck>, withRun: boolean): Html =>
  table({
    caption,
    stacks: true,
    columns: [
      { label: "Check" },
      { label: "Result" },
      { label: "Holds when" },
      { label: "If it fails" },
      ...(withRun ? [{ label: "Ran in" }] : [])
    ],
    rows: checks.map(
      (check): ReadonlyArray<Part> => [
        named(check.name),
        html`${resultOf(check)}${
          check.bad_rows > 0 && html`<details><summary>Examples</summary><pre>${check.examples}</pre></details>`
        }`,
        check.description,
        html`<span class="nowrap">${check.severity === "error" ? "nothing is published" : "a warning"}</span>`,
        ...(withRun ? [html`<a href="${runPath(check.run_id)}">${pipelineName(check.pipeline)}</a>`] : [])
      ]
    )
  })

export const dataChecksPage: Page<DataRead> = {
  path: "/data/checks",
  operatorsOnly: true,
  get: () =>
    Effect.map(
      DataRead.use((data) => data.checks),
      (checks) =>
        show(
          "Checks",
          html`${dataNavigation("/data/checks")}
<p class="lead">Before a generation goes live, each pipeline checks it. These are the checks of the newest published run of each.</p>
${
  checks.length === 0
    ? empty("No checks yet", "They run when larder-ingest publishes something.")
    : html`<div class="card">${checkTable("Checks of the live generation", checks, true)}</div>`
}`
        )
    )
}

/** Checks of the live generation: queries that return bad rows. Failed checks come first. */
import { Effect, Option } from "effect"
import { badge, count, empty, type Html, html, moment, type Part, section, table } from "../web/html.ts"
import { type Page, show } from "../web/page.ts"
import { titleOfPipeline } from "./data-sets.ts"
import { dataNavigation, named, runPath } from "./pieces.ts"
import { DataRead, type ShownCheck } from "./read.ts"

const resultOf = ({ bad_rows, severity }: ShownCheck): Html => {
  if (bad_rows === 0) return badge("passed", "good")
  return badge(`${count(bad_rows)} bad ${bad_rows === 1 ? "row" : "rows"}`, severity === "error" ? "bad" : "warning")
}

export const checkTable = (caption: string, checks: ReadonlyArray<ShownCheck>): Html =>
  table({
    caption,
    stacks: true,
    columns: [{ label: "Check" }, { label: "Result" }, { label: "Holds when" }, { label: "If it fails" }],
    rows: checks.map(
      (check): ReadonlyArray<Part> => [
        named(check.name),
        html`${resultOf(check)}${
          check.bad_rows > 0 && html`<details><summary>Examples</summary><pre>${check.examples}</pre></details>`
        }`,
        check.description,
        html`<span class="nowrap">${check.severity === "error" ? "nothing is published" : "a warning"}</span>`
      ]
    )
  })

/** `All 28 passed`, or how many did not. */
export const checksText = (checks: ReadonlyArray<ShownCheck>): string => {
  const failing = checks.filter(({ bad_rows }) => bad_rows > 0).length
  if (failing > 0) return `${count(failing)} of ${count(checks.length)} found something`
  return checks.length === 0 ? "None yet" : `All ${count(checks.length)} passed`
}

const checksOf = Effect.fnUntraced(function* (run_id: string, checks: ReadonlyArray<ShownCheck>) {
  const found = yield* DataRead.use((data) => data.run(run_id))
  const title = titleOfPipeline(checks[0]?.pipeline ?? "")
  const ranOn = Option.map(found, ({ run }) => html`<a href="${runPath(run_id)}">${moment(run.started_at)}</a>`)
  return section(title, checkTable(`Checks of ${title}`, checks), Option.getOrNull(ranOn))
})

export const dataChecksPage: Page<DataRead> = {
  path: "/data/checks",
  operatorsOnly: true,
  get: Effect.fnUntraced(function* () {
    const checks = yield* DataRead.use((data) => data.checks)
    const byRun = Map.groupBy(checks, ({ run_id }) => run_id)
    const sections = yield* Effect.forEach(byRun, ([run_id, ofRun]) => checksOf(run_id, ofRun))
    const lead =
      "A run checks what it has read before its generation goes live. These are of the newest published run of each pipeline."
    return show(
      "Checks",
      html`${dataNavigation("/data/checks")}
<p class="lead">${checks.length > 0 && html`<strong>${checksText(checks)}.</strong> `}${lead}</p>
${checks.length === 0 ? empty("No checks yet", "They run when larder-ingest publishes something.") : html`<div class="checks">${sections}</div>`}`
    )
  })
}

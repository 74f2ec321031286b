/** Checks of the live generation, failed ones first. A check is a query that returns bad rows. */
import { Effect, Option } from "effect"
import {
  badge,
  countText,
  empty,
  type Html,
  type HtmlPart,
  html,
  momentTag,
  nameCode,
  section,
  table
} from "../web/html.ts"
import { type Page, show } from "../web/page.ts"
import { pipelineTitle } from "./data-sets.ts"
import { dataNavigation, runPath } from "./pieces.ts"
import { type CheckRow, DataRead } from "./read.ts"

const resultBadge = ({ bad_rows, severity }: CheckRow): Html => {
  if (bad_rows === 0) return badge("passed", "good")
  return badge(
    `${countText(bad_rows)} bad ${bad_rows === 1 ? "row" : "rows"}`,
    severity === "error" ? "bad" : "warning"
  )
}

export const checkTable = (caption: string, checks: ReadonlyArray<CheckRow>): Html =>
  table({
    caption,
    stacks: true,
    columns: ["Check", "Result", "Holds when", "If it fails"],
    rows: checks.map(
      (check): ReadonlyArray<HtmlPart> => [
        nameCode(check.name),
        html`${resultBadge(check)}${
          check.bad_rows > 0 && html`<details><summary>Examples</summary><pre>${check.examples}</pre></details>`
        }`,
        check.description,
        html`<span class="nowrap">${check.severity === "error" ? "nothing is published" : "a warning"}</span>`
      ]
    )
  })

/** `All 28 passed`, or how many did not. */
export const checksText = (checks: ReadonlyArray<CheckRow>): string => {
  const failing = checks.filter(({ bad_rows }) => bad_rows > 0).length
  if (failing > 0) return `${countText(failing)} of ${countText(checks.length)} found something`
  return checks.length === 0 ? "None yet" : `All ${countText(checks.length)} passed`
}

const runSection = Effect.fnUntraced(function* (run_id: string, checks: ReadonlyArray<CheckRow>) {
  const found = yield* DataRead.use((data) => data.run(run_id))
  const title = pipelineTitle(checks[0]?.pipeline ?? "")
  const link = Option.map(found, ({ run }) => html`<a href="${runPath(run_id)}">${momentTag(run.started_at)}</a>`)
  return section(title, checkTable(`Checks of ${title}`, checks), Option.getOrNull(link))
})

export const dataChecksPage: Page<DataRead> = {
  path: "/data/checks",
  operatorsOnly: true,
  get: Effect.fnUntraced(function* () {
    const checks = yield* DataRead.use((data) => data.checks)
    const byRun = Map.groupBy(checks, ({ run_id }) => run_id)
    const sections = yield* Effect.forEach(byRun, ([run_id, ofRun]) => runSection(run_id, ofRun))
    return show(
      "Checks",
      html`${dataNavigation("/data/checks")}
<p class="lead">${checks.length > 0 && html`<strong>${checksText(checks)}.</strong> `}A run checks what it has read before its generation goes live. These are the checks of the newest published run of each pipeline.</p>
${checks.length === 0 ? empty("No checks yet", "They run when larder-ingest publishes something.") : html`<div class="checks">${sections}</div>`}`
    )
  })
}

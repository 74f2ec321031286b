/**
 * Payloads with each fault of the table in `docs/ingesting.md`, read as a run reads them after an intact edition.
 * `test/end-to-end/commodity-faults.test.ts` has whole runs with one fault of each kind.
 */
import { assert, describe, it } from "@effect/vitest"
import { payloadFaults, payloadsOf } from "@larder/test/support/pipelines/commodity-faults.ts"
import { feedNamed } from "@larder/test/support/pipelines/commodity-payloads.ts"
import { matchesTemplate, readDocumentedFaults } from "@larder/test/support/pipelines/documented-faults.ts"
import { makeRandom, seed } from "@larder/test/support/seed.ts"
import type { Feed } from "./catalog.ts"
import { decodeText, PayloadUnreadable, parseRows } from "./decode/payload.ts"
import { DriftFound } from "./normalise/drift.ts"
import { type NormaliseOptions, normalise } from "./normalise/normalise.ts"
import { explainPart } from "./parts.ts"

const documented = readDocumentedFaults("commodities")

const read = (feed: Feed, bytes: Buffer, options: NormaliseOptions) => {
  const url = "https://source.test/report"
  const received = { url, text: decodeText(url, bytes), content_type: "application/json", isRecorded: false }
  const payload = parseRows(feed, received)
  const { lost_metrics, rejects, rows_judged } = normalise(feed, payload, { fetchedOn: "2026-10-01", ...options })
  return explainPart({ faults: lost_metrics, rejects, rows_judged }).join(" ")
}

/** What a run knows of the feed after it has read an intact payload. */
const knownAfter = (feed: Feed, intact: string): NormaliseOptions => {
  const url = "https://source.test/report"
  const payload = parseRows(feed, { url, text: intact, content_type: "application/json", isRecorded: false })
  const { readings } = normalise(feed, payload, { fetchedOn: "2026-10-01" })
  const byMetric = Map.groupBy(readings, ({ metric_name }) => metric_name)
  const days = [...byMetric].map(
    ([name, found]) => [name, new Set(found.map(({ observed_on }) => observed_on))] as const
  )
  const newestPublication = readings
    .map(({ published_at }) => published_at)
    .toSorted()
    .at(-1)
  return { daysWithValues: new Map(days), newestPublication }
}

/** The outcome in the words of the table. */
const outcomeOf = (feed: Feed, { faulty, intact }: ReturnType<typeof payloadsOf>) => {
  try {
    const part = read(feed, faulty, knownAfter(feed, intact))
    return { published: "all feeds", kept: "", exit: part === "" ? "0" : "4", message: part }
  } catch (error) {
    if (!(error instanceof DriftFound) && !(error instanceof PayloadUnreadable)) throw error
    return { published: "the other feeds", kept: "its last values", exit: "4", message: error.message }
  }
}

describe("a payload with a fault", () => {
  it.each(payloadFaults(makeRandom(seed)))("is refused, or read in part, as documented: $fault", (fault) => {
    const line = documented.find((other) => other.fault === fault.fault)
    for (const name of fault.feeds) {
      const { message, ...outcome } = outcomeOf(feedNamed(name), payloadsOf(fault, name))
      const context = `${name}: ${message}\n(LARDER_TEST_SEED=${seed})`
      assert.deepStrictEqual(outcome, { published: line?.published, kept: line?.kept, exit: line?.exit }, context)
      assert.isTrue(matchesTemplate(message, line?.message ?? ""), `${context}\nis not: ${line?.message}`)
    }
  })
})

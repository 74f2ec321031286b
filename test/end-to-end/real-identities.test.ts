/** Which report a recorded payload is of: it passes for its own feed and for no other. */
import { assertReport, catalog, type Feed, PayloadUnreadable, parseRows } from "@larder/pipelines"
import { expect, it } from "vitest"
import { marsBody } from "../support/pipelines/commodity-payloads.ts"
import { describeSamples } from "../support/shared-samples.ts"
import { recordings, reportTitles, sample } from "./real-recordings.ts"

const { feeds } = catalog()

/** Why the payload is not taken for the feed; undefined where it is. */
const refusal = (feed: Feed, text: string): string | undefined => {
  try {
    assertReport(feed, parseRows(feed, { url: feed.feed, text, content_type: "application/json", recorded: true }))
    return undefined
  } catch (error) {
    if (!(error instanceof PayloadUnreadable)) throw error
    return error.problem
  }
}

const takers = (text: string) => feeds.filter((feed) => refusal(feed, text) === undefined).map(({ feed }) => feed)

/** A report of My Market News, as the service lists it, with a row that states some of that of itself. */
const listed = () =>
  reportTitles().flatMap(({ report_title, slug_id, slug_name }) => {
    const own = feeds.filter(({ feed }) => feed === `gov-mars/${slug_id}`)
    const stating = { "its number": { slug_id }, "its title": { report_title }, "its name": { slug_name } }
    const whole = { "all three": { slug_id, slug_name, report_title } }
    return Object.entries({ ...stating, ...whole }).map(([what, row]) => ({
      what: `${slug_id}, which states ${what}`,
      body: marsBody([row]),
      own: own.map(({ feed }) => feed)
    }))
  })

/** What was put together from numbers alone gets the list of sections that the recordings have. */
const withSections = ([feed, body]: readonly [string, string]) => {
  const { reportSections } = JSON.parse(sample("mpr_2993_block_2026-10-02.first20rows.TRANSCRIBED.json"))
  const payload = feed.startsWith("gov-mpr/2993/") ? { reportSections, ...JSON.parse(body) } : JSON.parse(body)
  return [feed, JSON.stringify(payload)] as const
}

const theRealIdentities = () => {
  it("of the recordings match their own feeds only", () => {
    const bodies = Object.entries(recordings((rows) => rows))
      .map(withSections)
      .filter(([, body]) => /"results":\[\{/.test(body))
    expect(bodies.length).toBeGreaterThan(6)
    expect(bodies.map(([feed, body]) => [feed, takers(body)])).toEqual(bodies.map(([feed]) => [feed, [feed]]))
  })

  it("of a report that no feed reads match no feed", () => {
    expect(takers(sample("mars_v1.2_2277_allSections_2026-09-25.header1+detail1.TRANSCRIBED.json"))).toEqual([])
  })

  it("of all listed dairy reports match their own feeds only, by number, name or title", () => {
    const reports = listed()
    expect(reports.length).toBeGreaterThan(100)
    expect(reports.map(({ body, what }) => [what, takers(body)])).toEqual(reports.map(({ own, what }) => [what, own]))
  })
}

describeSamples("gov", "the real identities", theRealIdentities)

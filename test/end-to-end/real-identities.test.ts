/** A recorded payload is accepted for its own feed and for no other. */
import { catalog, type Feed } from "@larder/pipelines/commodities/catalog.ts"
import { PayloadUnreadable, parseRows } from "@larder/pipelines/commodities/decode/payload.ts"
import { DriftFound } from "@larder/pipelines/commodities/normalise/drift.ts"
import { normalise } from "@larder/pipelines/commodities/normalise/normalise.ts"
import { expect, it } from "vitest"
import { marsBody } from "../support/pipelines/commodity-payloads.ts"
import { describeSamples } from "../support/shared-samples.ts"
import { recordings, reportTitles, sample } from "./real-recordings.ts"

const { feeds } = catalog()

/** Returns why the payload is another report than the feed's; undefined if it is the same, whatever its columns are. */
const findRefusal = (feed: Feed, text: string): string | undefined => {
  try {
    normalise(feed, parseRows(feed, { url: feed.feed, text, content_type: "application/json", isRecorded: true }))
    return undefined
  } catch (error) {
    if (error instanceof DriftFound) return undefined
    if (!(error instanceof PayloadUnreadable)) throw error
    return error.problem
  }
}

const listAcceptingFeeds = (text: string) =>
  feeds.filter((feed) => findRefusal(feed, text) === undefined).map(({ feed }) => feed)

/** Makes payloads of the reports that My Market News lists, with a row that states some or all of these names. */
const makeListedReports = () =>
  reportTitles().flatMap(({ report_title, slug_id, slug_name }) => {
    const ownFeeds = feeds.filter(({ feed }) => feed === `gov-mars/${slug_id}`)
    const stating = { "its number": { slug_id }, "its title": { report_title }, "its name": { slug_name } }
    const allNames = { "all three": { slug_id, slug_name, report_title } }
    return Object.entries({ ...stating, ...allNames }).map(([what, row]) => ({
      what: `${slug_id}, which states ${what}`,
      body: marsBody([row]),
      own: ownFeeds.map(({ feed }) => feed)
    }))
  })

/** Adds the recorded list of sections to a payload that was made only from numbers. */
const addSections = ([feed, body]: readonly [string, string]) => {
  const { reportSections } = JSON.parse(sample("mpr_2993_block_2026-10-02.first20rows.TRANSCRIBED.json"))
  const payload = feed.startsWith("gov-mpr/2993/") ? { reportSections, ...JSON.parse(body) } : JSON.parse(body)
  return [feed, JSON.stringify(payload)] as const
}

const testIdentities = () => {
  it("of the recordings match their own feeds only", () => {
    const bodies = Object.entries(recordings((rows) => rows))
      .map(addSections)
      .filter(([, body]) => /"results":\[\{/.test(body))
    expect(bodies.length).toBeGreaterThan(6)
    expect(bodies.map(([feed, body]) => [feed, listAcceptingFeeds(body)])).toEqual(
      bodies.map(([feed]) => [feed, [feed]])
    )
  })

  it("of a report that no feed reads match no feed", () => {
    expect(
      listAcceptingFeeds(sample("mars_v1.2_2277_allSections_2026-09-25.header1+detail1.TRANSCRIBED.json"))
    ).toEqual([])
  })

  it("of all listed dairy reports match their own feeds only, by number, name or title", () => {
    const reports = makeListedReports()
    expect(reports.length).toBeGreaterThan(100)
    expect(reports.map(({ body, what }) => [what, listAcceptingFeeds(body)])).toEqual(
      reports.map(({ own, what }) => [what, own])
    )
  })
}

describeSamples("gov", "the real identities", testIdentities)

import { assert, describe, it } from "@effect/vitest"
import { compareFreshness, type Notified } from "./changes.ts"
import type { Judged } from "./freshness.ts"
import { makeFreshnessNotice, makeRunNotice } from "./notice.ts"

const judge = (subject: string, state: Judged["state"], set: Partial<Judged> = {}): Judged => ({
  pipeline: "commodities",
  kind: "metric",
  subject,
  state,
  left_out: null,
  late_at: "2026-12-01T16:00:00.000Z",
  why: `Why ${subject} is ${state}.`,
  ...set
})
const sent = (subject: string, state: Judged["state"], notified_at = "2026-11-30T00:00:00.000Z"): Notified => ({
  subject: `commodities metric ${subject}`,
  state,
  notified_at
})
const wordsOf = (judged: ReadonlyArray<Judged>, notified: ReadonlyArray<Notified>) => {
  const { changes, forget, remember } = compareFreshness(judged, notified)
  return {
    sent: changes.map(({ before, state, subject }) => `${subject}: ${before} -> ${state}`),
    remember: Object.fromEntries(remember),
    forget
  }
}

describe("what has changed since the last notice", () => {
  it("is at first what is late; what is fresh, ended, a sample or not loaded needs no row", () => {
    const states = ["fresh", "late", "ended", "sample", "not_loaded"] as const
    assert.deepStrictEqual(
      wordsOf(
        states.map((state) => judge(`a-${state}`, state)),
        []
      ),
      { sent: ["a-late: null -> late"], remember: { "commodities metric a-late": "late" }, forget: [] }
    )
  })
  it("is nothing while a subject stays late", () => {
    assert.deepStrictEqual(wordsOf([judge("milk", "late")], [sent("milk", "late")]), {
      sent: [],
      remember: {},
      forget: []
    })
  })
  it("is sent when a subject is fresh again, and when it is late once more", () => {
    assert.deepStrictEqual(wordsOf([judge("milk", "fresh")], [sent("milk", "late")]).sent, ["milk: late -> fresh"])
    assert.deepStrictEqual(wordsOf([judge("milk", "late")], [sent("milk", "fresh")]).sent, ["milk: fresh -> late"])
  })
  it("is only stored when a run left a subject out, whose notice has that, and is sent when the subject is read again", () => {
    assert.deepStrictEqual(wordsOf([judge("milk", "not_read")], [sent("milk", "late")]), {
      sent: [],
      remember: { "commodities metric milk": "not_read" },
      forget: []
    })
    assert.deepStrictEqual(wordsOf([judge("milk", "fresh")], [sent("milk", "not_read")]).sent, [
      "milk: not_read -> fresh"
    ])
  })
  it("forgets a subject that is judged no more", () => {
    assert.deepStrictEqual(wordsOf([], [sent("milk", "late")]), {
      sent: [],
      remember: {},
      forget: ["commodities metric milk"]
    })
  })
})

describe("the notice about freshness", () => {
  const idOf = (judged: ReadonlyArray<Judged>, notified: ReadonlyArray<Notified>) =>
    makeFreshnessNotice(compareFreshness(judged, notified).changes, notified).id

  it("has the same id for the same changes, in any order, and another one when a subject becomes late once more", () => {
    const late = [judge("milk", "late"), judge("whey", "late")]
    assert.strictEqual(idOf(late, []), idOf(late.toReversed(), []))
    const again = [sent("milk", "fresh", "2026-11-01T00:00:00.000Z"), sent("whey", "fresh")]
    assert.notStrictEqual(idOf(late, again), idOf(late, [sent("milk", "fresh"), sent("whey", "fresh")]))
    assert.notStrictEqual(idOf(late, []), idOf(late, again))
  })
  it("names what is late first, each subject with its reason, and counts the lines that it omits", () => {
    const many = Array.from({ length: 40 }, (_, n) => judge(`m-${n}`, "late"))
    const judged = [judge("milk", "fresh"), ...many]
    const notified = [sent("milk", "late")]
    const lines = makeFreshnessNotice(compareFreshness(judged, notified).changes, notified).text.split("\n")
    assert.strictEqual(lines[0], "Larder: 40 late, 1 no longer so")
    assert.strictEqual(lines[1], "late: commodities metric m-0. Why m-0 is late.")
    assert.deepStrictEqual([lines.length, lines.at(-1)], [26, "and 17 more"])
  })
})

describe("the notice about a run", () => {
  const textOf = (message: string) =>
    makeRunNotice({ pipeline: "storefronts", id: "1", problem: "failed", message, run: null, left_out: [] }).text

  it("cannot call the people of a Slack channel, whatever a source sent", () => {
    assert.strictEqual(
      textOf("The response of a&b is <!channel>.\n\u001b[2J  It begins with \u202e."),
      "Larder: the run of storefronts failed\nThe response of a&amp;b is &lt;!channel&gt;.\n [2J  It begins with  ."
    )
  })
  it("has lines of at most 300 characters", () => {
    assert.deepStrictEqual(textOf("ä".repeat(5_000)).split("\n")[1]?.length, 301)
  })
})

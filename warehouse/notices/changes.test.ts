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
  const states = ["fresh", "late", "ended", "sample", "not_loaded", "not_read"] as const

  it("is at first what is late; the states of all subjects are stored", () => {
    const judged = states.map((state) => judge(`a-${state}`, state))
    assert.deepStrictEqual(wordsOf(judged, []), {
      sent: ["a-late: null -> late"],
      remember: Object.fromEntries(states.map((state) => [`commodities metric a-${state}`, state])),
      forget: []
    })
  })
  it("is each change of state, but those of samples and first loads, and those into unread", () => {
    const changes = states.flatMap((before) =>
      wordsOf(
        states.map((state) => judge(state, state)),
        states.map((state) => sent(state, before))
      ).sent.map((change) => change.replace(/^\w+: /, ""))
    )
    const all = states.flatMap((before) =>
      states.filter((state) => state !== before).map((state) => `${before} -> ${state}`)
    )
    assert.sameMembers(
      all.filter((change) => !changes.includes(change)),
      [
        ...all.filter((change) => change.endsWith("-> not_read")),
        ...["fresh -> sample", "fresh -> not_loaded", "sample -> fresh", "sample -> not_loaded"],
        ...["not_loaded -> fresh", "not_loaded -> sample"]
      ]
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
    const judged = [judge("milk", "fresh"), judge("whey", "ended"), ...many]
    const notified = [sent("milk", "late"), sent("whey", "fresh")]
    const lines = makeFreshnessNotice(compareFreshness(judged, notified).changes, notified).text.split("\n")
    assert.strictEqual(lines[0], "Larder: 40 late, 1 no longer so, 1 ended or resumed")
    assert.strictEqual(lines[1], "late: commodities metric m-0. Why m-0 is late.")
    assert.deepStrictEqual([lines.length, lines.at(-1)], [26, "and 18 more"])
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

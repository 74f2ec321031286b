import { assert, describe, it } from "@effect/vitest"
import type { AccountAlert } from "../billing/index.ts"
import { compareAlerts } from "./account-mails.ts"
import type { NotifiedState } from "./notified-tables.ts"

/** Two hours after the rows of `row`. */
const now = Date.parse("2026-12-01T02:00:00.000Z")
const consoleUrl = "https://console.example"
const ada = { id: "pers_ada", account_id: "acct_a", email: "ada@example.com" }
const bob = { id: "pers_bob", account_id: "acct_a", email: "bob@example.com" }
const eve = { id: "pers_eve", account_id: "acct_e", email: "eve@example.com" }

const alert = (set: Partial<AccountAlert> = {}): AccountAlert => ({
  account: { id: "acct_a", name: "Bakery" },
  topic: "balance",
  state: "low",
  subject: "Your Larder balance is low",
  text: "The balance is $0.50.",
  path: "/billing",
  ...set
})
const stopped = alert({ topic: "stop", state: "stopped", subject: "Stopped", text: "It was stopped.", path: "/x" })
const row = (person: typeof ada, state = "low", notified_at = "2026-12-01T00:00:00.000Z"): NotifiedState => ({
  subject: `account ${person.account_id} balance ${person.id}`,
  state,
  notified_at
})
const compare = (
  alerts: ReadonlyArray<AccountAlert>,
  notified: ReadonlyArray<NotifiedState> = [],
  people: ReadonlyArray<typeof ada> = [ada, bob, eve]
) => compareAlerts(alerts, people, notified, consoleUrl, now)
const idOf = (...given: Parameters<typeof compare>) => compare(...given).mails[0]?.mail.id

describe("mails about an account", () => {
  it("go to each of its people, and contain everything that is new", () => {
    const { mails } = compare([alert(), stopped])
    assert.deepStrictEqual(
      mails.map(({ mail, remember }) => [mail.to, remember.map(({ state }) => state)]),
      [
        ["ada@example.com", ["low", "stopped"]],
        ["bob@example.com", ["low", "stopped"]]
      ]
    )
    assert.strictEqual(
      mails[0]?.mail.text,
      `This is about the account Bakery at the Larder console, console.example.

The balance is $0.50.
https://console.example/billing

It was stopped.
https://console.example/x

You get this mail because you sign in to this account. The page Billing has
the balance below which it is sent, and auto-recharge.
`
    )
  })

  it("contain only what this person was not told", () => {
    const { mails } = compare([alert(), stopped], [row(ada)])
    assert.deepStrictEqual(
      mails.map(({ mail }) => [mail.to, mail.subject]),
      [
        ["ada@example.com", "Stopped"],
        ["bob@example.com", "Your Larder balance is low"]
      ]
    )
    assert.deepStrictEqual(compare([alert()], [row(ada), row(bob)]).mails, [])
  })

  it("have the same id until they are recorded, another one for each person, and for the next occurrence", () => {
    const first = idOf([alert()])
    assert.strictEqual(idOf([alert({ text: "The balance is $0.40." })]), first)
    const ids = [first, idOf([alert()], [row(ada)]), idOf([alert()], [row(ada, "ended"), row(bob)])]
    const later = idOf([alert()], [row(ada, "ended", "2026-12-01T01:00:00.000Z"), row(bob)])
    assert.strictEqual(new Set([...ids, later]).size, 4)
  })

  it("are not sent when something is right again, which is only stored", () => {
    const { ended, forget, mails } = compare([], [row(ada), row(bob, "ended")])
    assert.deepStrictEqual([mails, ended, forget], [[], [row(ada, "ended")], []])
  })

  it("wait for an hour after the last one, except about a stop, whatever was chosen in between", () => {
    const recent = "2026-12-01T01:00:01.000Z"
    const { mails } = compare(
      [alert(), stopped],
      [row(ada, "low at another amount", recent), row(bob, "ended", recent)]
    )
    assert.deepStrictEqual(
      mails.map(({ remember }) => remember.map(({ state }) => state)),
      [["stopped"], ["stopped"]]
    )
    assert.deepStrictEqual(compare([], [row(ada, "low", recent)], []).forget, []) // or switching off and on would repeat it
  })

  it("leave no rows of people who were removed", () => {
    assert.deepStrictEqual(compare([alert()], [row(ada), row(bob)], [ada]).forget, [row(bob).subject])
  })

  it("have lines of at most 78 characters, except addresses", () => {
    const { mails } = compare([
      alert({ text: "word ".repeat(200).trim(), account: { id: "acct_a", name: "W".repeat(200) } })
    ])
    const lines = (mails[0]?.mail.text ?? "").split("\n").filter((line) => line.includes(" "))
    assert.isAtMost(Math.max(...lines.map(({ length }) => length)), 78)
  })
})

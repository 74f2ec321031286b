/** An account with more keys than one page shows, also of those that are revoked. */
import { Administration } from "@larder/serve/ledger"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { withClockAhead } from "../support/clock-ahead.ts"
import {
  column,
  followed,
  linkCalled,
  type SignedIn,
  spendingConsole,
  unescaped
} from "../support/console/spending-console.ts"

const console = spendingConsole()
const many = 101
let mine: SignedIn
let other: SignedIn

const makeKeys = ({ account }: SignedIn) =>
  console.run(
    Effect.gen(function* () {
      const ledger = yield* Administration
      const make = (name: string, budget_credits = 1_000) =>
        ledger.createKey({ account_id: account.id, name, scopes: ["get-store"], budget_credits })
      for (let index = 1; index <= many; index++) {
        const after = withClockAhead(`${index} millis`) // lists go by the time of creation: no two keys of a list have the same
        yield* after(make(`mine ${index}`, index === many ? 0 : 1_000)) // the newest one is paused
        const { id } = yield* after(make(`gone ${index}`))
        yield* after(ledger.revokeKey({ key_id: id }))
      }
    })
  )

beforeAll(async () => {
  mine = await console.signedIn("the first")
  other = await console.signedIn("of another account")
  await makeKeys(mine)
})

const names = (html: string) => column(html, 0)
const options = (html: string) => {
  const [, select = ""] = /<select id="key"[^>]*>(.*?)<\/select>/s.exec(html) ?? []
  return [...select.matchAll(/<option[^>]*>(.*?)<\/option>/g)].map(([, label = ""]) => unescaped(label))
}
/** The id of a key by its name, from the page that lists it. */
const idOf = (html: string, name: string) =>
  new RegExp(`href="/keys/(key_\\w+)"[^>]*>(?:<strong>)?${name}<`).exec(html)?.[1]

describe("a list of keys", () => {
  it("shows 100 keys per page that are not revoked, newest first, paused ones included", async () => {
    const pages = await followed(mine.browser, "/keys")
    expect(pages.map((page) => names(page).length)).toEqual([100, 2])
    expect(names(pages[0] ?? "").slice(0, 2)).toEqual(["mine 101", "mine 100"])
    expect(names(pages[1] ?? "")).toEqual(["mine 1", "the first"])
    expect(linkCalled(pages[1] ?? "", "Newer")).toBe("/keys?page=1")
    expect(pages[0]).toContain(">Your keys (102)</h2>")
    expect(pages[0]).toContain('<nav class="paging" aria-label="Pages of your keys">')
    expect(pages[0]?.match(/badge warning">paused</g)?.length).toBe(1)
  })

  it("shows 100 revoked keys per page, newest first, and links to the others", async () => {
    const revokedIn = (page: string) => names(page).filter((name) => name.startsWith("gone"))
    const first = (await mine.browser.get("/keys?revoked=1")).text
    expect(revokedIn(first)).toHaveLength(100)
    expect(revokedIn(first)[0]).toBe("gone 101")
    expect(first).toContain(">Revoked keys (101)</h2>")
    const second = (await mine.browser.get("/keys?revoked=2")).text
    expect(first).toContain('href="/keys?revoked=2#revoked"')
    expect(revokedIn(second)).toEqual(["gone 1"])
  })

  it.each(["page=0", "page=3", "page=x", "page=", "page=1.5", "revoked=3", "revoked=yes"])(
    "answers 404 to %s",
    async (query) => {
      expect((await mine.browser.get(`/keys?${query}`)).status).toBe(404)
    }
  )

  it("has one page when there are few keys", async () => {
    const { status, text } = await other.browser.get("/keys?page=1")
    expect([status, names(text)]).toEqual([200, ["of another account"]])
    expect(text).not.toContain("Older")
  })
})

describe("the choice of a key on the pages about calls", () => {
  it.each(["/usage", "/requests"])(
    "offers on %s all keys that are not revoked, and the 100 that were revoked last",
    async (path) => {
      const offered = options((await mine.browser.get(path)).text)
      const revoked = offered.filter((label) => label.endsWith(", revoked"))
      expect(offered).toHaveLength(1 + 102 + 100)
      expect(revoked[0]).toMatch(/^gone 101 \(…\w{4}\), revoked$/)
      expect(revoked.at(-1)).toMatch(/^gone 2 /)
    }
  )

  it("offers the requested key, however long ago it was revoked", async () => {
    const id = idOf((await mine.browser.get("/keys?revoked=2")).text, "gone 1")
    const { status, text } = await mine.browser.get(`/usage?key=${id}`)
    expect(status).toBe(200)
    expect(options(text)).toHaveLength(1 + 102 + 101)
    expect(text).toMatch(new RegExp(`<option value="${id}" selected>gone 1 `))
  })
})

/** An account with more keys, and more revoked keys, than one page shows. */
import { Administration } from "@larder/serve/ledger"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { withClockAhead } from "../support/clock-ahead.ts"
import { findLink, readAllPages, readColumn, unescapeHtml } from "../support/console/pages.ts"
import { type SignedIn, startSpendingConsole } from "../support/console/spending-console.ts"

const console = startSpendingConsole()
const keyCount = 101
let mine: SignedIn
let other: SignedIn

const makeKeys = ({ account }: SignedIn) =>
  console.run(
    Effect.gen(function* () {
      const ledger = yield* Administration
      const make = (name: string, budget_credits = 1_000) =>
        ledger.createKey({ account_id: account.id, name, scopes: ["get-store"], budget_credits })
      for (let index = 1; index <= keyCount; index++) {
        // lists are sorted by the time of creation, so each key needs a different one
        const runLater = withClockAhead(`${index} millis`)
        yield* runLater(make(`mine ${index}`, index === keyCount ? 0 : 1_000)) // the newest key is paused
        const { id } = yield* runLater(make(`retired ${index}`))
        yield* runLater(ledger.revokeKey({ key_id: id }))
      }
    })
  )

beforeAll(async () => {
  mine = await console.signIn("the first")
  other = await console.signIn("of another account")
  await makeKeys(mine)
})

const readNames = (html: string) => readColumn(html, 0)
const readOptions = (html: string) => {
  const [, select = ""] = /<select id="key"[^>]*>(.*?)<\/select>/s.exec(html) ?? []
  return [...select.matchAll(/<option[^>]*>(.*?)<\/option>/g)].map(([, label = ""]) => unescapeHtml(label))
}
/** The id of a key on a page that lists it. */
const findId = (html: string, name: string) =>
  new RegExp(`href="/keys/(key_\\w+)"[^>]*>(?:<strong>)?${name}<`).exec(html)?.[1]

describe("a list of keys", () => {
  it("shows 100 unrevoked keys per page, newest first, including paused ones", async () => {
    const pages = await readAllPages(mine.browser, "/keys")
    expect(pages.map((page) => readNames(page).length)).toEqual([100, 2])
    expect(readNames(pages[0] ?? "").slice(0, 2)).toEqual(["mine 101", "mine 100"])
    expect(readNames(pages[1] ?? "")).toEqual(["mine 1", "the first"])
    expect(findLink(pages[1] ?? "", "Newer")).toBe("/keys?page=1")
    expect(pages[0]).toContain(">Your keys (102)</h2>")
    expect(pages[0]).toContain('<nav class="paging" aria-label="Pages of your keys">')
    expect(pages[0]?.match(/badge warning">paused</g)?.length).toBe(1)
  })

  it("shows 100 revoked keys per page, newest first, and links to older ones", async () => {
    const readRevoked = (page: string) => readNames(page).filter((name) => name.startsWith("retired"))
    const first = (await mine.browser.get("/keys?revoked=1")).text
    expect(readRevoked(first)).toHaveLength(100)
    expect(readRevoked(first)[0]).toBe("retired 101")
    expect(first).toContain(">Revoked keys (101)</h2>")
    const second = (await mine.browser.get("/keys?revoked=2")).text
    expect(first).toContain('href="/keys?revoked=2#revoked"')
    expect(readRevoked(second)).toEqual(["retired 1"])
  })

  it.each(["page=0", "page=3", "page=x", "page=", "page=1.5", "revoked=3", "revoked=yes"])(
    "returns 404 for %s",
    async (query) => {
      expect((await mine.browser.get(`/keys?${query}`)).status).toBe(404)
    }
  )

  it("has one page for a few keys", async () => {
    const { status, text } = await other.browser.get("/keys?page=1")
    expect([status, readNames(text)]).toEqual([200, ["of another account"]])
    expect(text).not.toContain("Older")
  })
})

describe("the choice of a key on the pages about calls", () => {
  it.each(["/usage", "/requests"])(
    "offers all unrevoked keys and the 100 most recently revoked ones on %s",
    async (path) => {
      const offered = readOptions((await mine.browser.get(path)).text)
      const revoked = offered.filter((label) => label.endsWith(", revoked"))
      expect(offered).toHaveLength(1 + 102 + 100)
      expect(revoked[0]).toMatch(/^retired 101 \(…\w{4}\), revoked$/)
      expect(revoked.at(-1)).toMatch(/^retired 2 /)
    }
  )

  it("offers the requested key, however long ago it was revoked", async () => {
    const id = findId((await mine.browser.get("/keys?revoked=2")).text, "retired 1")
    const { status, text } = await mine.browser.get(`/usage?key=${id}`)
    expect(status).toBe(200)
    expect(readOptions(text)).toHaveLength(1 + 102 + 101)
    expect(text).toMatch(new RegExp(`<option value="${id}" selected>retired 1 `))
  })
})

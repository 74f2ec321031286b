/** Names as long as they may be, without a blank. Takes ten seconds. */
import { Administration } from "@larder/serve/ledger/administration.ts"
import { type NotedRequest, RequestLog } from "@larder/serve/requests/request-log.ts"
import { Effect } from "effect"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { call, type SignedIn, spendingConsole } from "../console/spending-console.ts"
import { launch } from "./chromium.ts"
import { dress, sizes } from "./look.ts"

const console = spendingConsole()
const longest = "W".repeat(200)
let mine: SignedIn
let browser: Browser

const refusedCall = (): NotedRequest => ({
  id: "req_TTcZPTzRyzyCg2NQGWwP",
  account_id: mine.account.id,
  key_id: mine.key.id,
  endpoint: "/v1/commodities/{slug}/observations",
  status: 402,
  credits: 0,
  duration_ms: 1.25,
  occurred_at: new Date().toISOString()
})

beforeAll(async () => {
  mine = await console.signedIn(longest)
  await console.run(call(mine.key, mine.key.key, "call_1"))
  await console.run(
    Effect.gen(function* () {
      const log = yield* RequestLog
      log.note(refusedCall())
      const ledger = yield* Administration
      const { id } = yield* ledger.createKey({
        account_id: mine.account.id,
        name: longest,
        scopes: ["get-store"],
        budget_credits: 1_000
      })
      yield* ledger.revokeKey({ key_id: id })
    })
  )
  browser = await launch()
})
afterAll(() => browser.close())

/** The captions of the tables that are wider than their place, and the page itself where it is too wide. */
const tooWide = (page: Page) =>
  page.evaluate<ReadonlyArray<string>>(`[
    ...[...document.querySelectorAll(".scroll")].filter((place) => place.scrollWidth > place.clientWidth)
      .map((place) => place.getAttribute("aria-label")),
    ...(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ["the page"] : [])
  ]`)

/** Request ids in two lines, and ends of keys such as `(…x9Qz)` that may come to that. */
const broken = (page: Page) =>
  page.evaluate<ReadonlyArray<string>>(`[
    ...[...document.querySelectorAll(".id")].filter((id) => id.getClientRects().length > 1),
    ...[...document.querySelectorAll(".key-name .nowrap")].filter((end) => getComputedStyle(end).whiteSpace !== "nowrap")
  ].map(({ textContent }) => textContent)`)

describe("a name of 200 letters without a blank", () => {
  it.each(["/keys?revoked=1", "/usage", "/requests", "/billing/ledger"])(
    "leaves all columns of %s in sight, and on a phone request ids and ends of keys in one line",
    async (path) => {
      const context = await browser.newContext({ viewport: sizes.desktop })
      try {
        await context.addCookies([{ name: "larder_session", value: mine.token, url: console.url() }])
        const page = await context.newPage()
        await page.goto(`${console.url()}${path}`)
        expect(await page.content()).toContain(longest)
        expect(await tooWide(page)).toEqual([])
        await dress(page, "phone", "light")
        expect(await tooWide(page)).not.toContain("the page")
        expect(await broken(page)).toEqual([])
      } finally {
        await context.close()
      }
    }
  )
})

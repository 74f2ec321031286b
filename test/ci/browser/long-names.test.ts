/** Names as long as they may be, without a blank. Takes ten seconds. */
import { Administration } from "@larder/serve/ledger"
import { RequestLog } from "@larder/serve/persistence"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { call, refusedCall, type SignedIn, spendingConsole } from "../../support/console/spending-console.ts"
import { dress, sizes } from "./look.ts"
import { signedInPages } from "./signed-in.ts"

const console = spendingConsole()
const signedIn = signedInPages(console)
const longest = "W".repeat(200)
let mine: SignedIn

beforeAll(async () => {
  mine = await console.signedIn(longest)
  await console.run(call(mine.key, mine.key.key, "call_1"))
  await console.run(
    Effect.gen(function* () {
      const log = yield* RequestLog
      log.record(refusedCall(mine))
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
})

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

describe("a name of 200 letters without a space", () => {
  it.each(["/keys?revoked=1", "/usage", "/requests", "/billing/ledger"])(
    "keeps all columns of %s visible, and on a phone each request id and each end of a key on one line",
    (path) =>
      signedIn(
        mine,
        async (page) => {
          await page.goto(`${console.url()}${path}`)
          expect(await page.content()).toContain(longest)
          expect(await tooWide(page)).toEqual([])
          await dress(page, "phone", "light")
          expect(await tooWide(page)).not.toContain("the page")
          expect(await broken(page)).toEqual([])
        },
        { viewport: sizes.desktop }
      )
  )
})

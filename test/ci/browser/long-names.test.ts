/** Names of the maximum length without a space. Takes ten seconds. */
import { Administration } from "@larder/serve/ledger"
import { RequestLog } from "@larder/serve/persistence"
import { Effect } from "effect"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { aRefusedCall, makeCall, type SignedIn, startSpendingConsole } from "../../support/console/spending-console.ts"
import { setAppearance, sizes } from "./accessibility.ts"
import { makeSignedInPages } from "./signed-in.ts"

const console = startSpendingConsole()
const runSignedIn = makeSignedInPages(console)
const longest = "W".repeat(200)
let customer: SignedIn

beforeAll(async () => {
  customer = await console.signIn(longest)
  await console.run(makeCall(customer.key, customer.key.key, "call_1"))
  await console.run(
    Effect.gen(function* () {
      const log = yield* RequestLog
      log.record(aRefusedCall(customer))
      const ledger = yield* Administration
      const { id } = yield* ledger.createKey({
        account_id: customer.account.id,
        name: longest,
        scopes: ["get-store"],
        budget_credits: 1_000
      })
      yield* ledger.revokeKey({ key_id: id })
    })
  )
})

/** The captions of tables that are wider than their container, and the page itself if it is too wide. */
const findTooWide = (page: Page) =>
  page.evaluate<ReadonlyArray<string>>(`[
    ...[...document.querySelectorAll(".scroll")].filter((container) => container.scrollWidth > container.clientWidth)
      .map((container) => container.getAttribute("aria-label")),
    ...(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ["the page"] : [])
  ]`)

/** Request ids that wrap, and ends of keys such as `(…x9Qz)` that can wrap. */
const findWrapped = (page: Page) =>
  page.evaluate<ReadonlyArray<string>>(`[
    ...[...document.querySelectorAll(".id")].filter((id) => id.getClientRects().length > 1),
    ...[...document.querySelectorAll(".key-name .nowrap")].filter((end) => getComputedStyle(end).whiteSpace !== "nowrap")
  ].map(({ textContent }) => textContent)`)

describe("a name of 200 letters without a space", () => {
  it.each(["/keys?revoked=1", "/usage", "/requests", "/billing/ledger"])(
    "keeps all columns of %s visible, and each request id and each end of a key on one line on a phone",
    (path) =>
      runSignedIn(
        customer,
        async (page) => {
          await page.goto(`${console.url()}${path}`)
          expect(await page.content()).toContain(longest)
          expect(await findTooWide(page)).toEqual([])
          await setAppearance(page, "phone", "light")
          expect(await findTooWide(page)).not.toContain("the page")
          expect(await findWrapped(page)).toEqual([])
        },
        { viewport: sizes.desktop }
      )
  )
})

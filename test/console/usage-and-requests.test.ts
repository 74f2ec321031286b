/** The pages about usage and requests, over HTTP. */
import { RequestLog, type RequestRecord } from "@larder/serve/persistence"
import { Effect } from "effect"
import Papa from "papaparse"
import { beforeAll, describe, expect, it } from "vitest"
import { findLink, readAllPages, readColumn } from "../support/console/pages.ts"
import { makeCall, type SignedIn, startSpendingConsole } from "../support/console/spending-console.ts"

const console = startSpendingConsole()
const consoleOnSeventh = startSpendingConsole({ now: () => Date.parse("2026-11-07T12:00:00.000Z") })
const formula = '=HYPERLINK("http://example.com","x")'
let mine: SignedIn
let other: SignedIn

const calls = 130

/** A logged call; seven calls share a millisecond. */
const aLoggedCall = ({ account, key }: SignedIn, index: number): RequestRecord => ({
  id: `req_${account.id}_${String(index).padStart(4, "0")}`,
  account_id: account.id,
  key_id: key.id,
  endpoint: index % 2 === 0 ? "/v1/stores" : "/v1/commodities",
  status: index % 10 === 0 ? 402 : 200,
  credits: index % 10 === 0 ? 0 : 100,
  duration_ms: 1.25,
  caller_request_id: null,
  traceparent: null,
  occurred_at: new Date(Date.now() - 60_000 - Math.floor(index / 7)).toISOString()
})

const makeCalls = async (customer: SignedIn) => {
  for (let index = 0; index < 3; index++)
    await console.run(makeCall(customer.key, customer.key.key, `call_${customer.account.id}_${index}`))
  await console.run(
    RequestLog.use((log) =>
      Effect.sync(() => {
        for (let index = 0; index < calls; index++) log.record(aLoggedCall(customer, index))
      })
    )
  )
}

beforeAll(async () => {
  mine = await console.signIn(formula)
  other = await console.signIn("Other")
  await makeCalls(mine)
  await makeCalls(other)
})

describe("the usage page", () => {
  it("shows charged calls by day, key, endpoint and status", async () => {
    const { status, text } = await mine.browser.get("/usage")
    expect(status).toBe(200)
    expect(text).toContain("3 calls")
    expect(text).toContain("=HYPERLINK(&quot;http://example.com&quot;,&quot;x&quot;) (…")
    expect(text).toContain('<code class="path">/v1/<wbr>stores</code>')
    expect(text).toContain("Balance or budget reached")
    expect(text).not.toContain(other.key.id)
  })

  it("distinguishes charged calls from all calls, which include refused ones", async () => {
    const { text } = await mine.browser.get("/usage")
    const readHeadings = (caption: string) =>
      [...(text.split(caption)[2]?.split("</thead>")[0] ?? "").matchAll(/scope="col"[^>]*>([^<]+)/g)].map(
        ([, head]) => head
      )
    for (const [by, name] of [
      ["key", "Key"],
      ["endpoint", "Endpoint"],
      ["day, newest first", "Day"]
    ]) {
      expect(readHeadings(`Charged calls by ${by}`)).toEqual([name, "Charged calls", "Credits", "Cost"])
    }
    expect(readHeadings("All calls by status")).toEqual(["Status", "Meaning", "All calls", "Share"])
    expect(text).toContain("Refused calls are also counted here")
  })

  it("averages over the days of the account only", async () => {
    const { text } = await mine.browser.get("/usage")
    expect(text).toMatch(/<dd class="more">[\d.]+ calls, over (1 day|2 days)<\/dd>/) // two after midnight
  })

  it("names a single day without charges", async () => {
    const { text } = await mine.browser.get("/usage?from=2024-02-29&to=2024-02-29")
    expect(text).toContain("Nothing was charged on 29 Feb 2024.")
  })

  it("marks only one of two periods with the same days", async () => {
    const { browser } = await consoleOnSeventh.signIn()
    const { text } = await browser.get("/usage?from=2026-11-01&to=2026-11-07")
    const marked = [...text.matchAll(/<a [^>]*aria-current="true"[^>]*>([^<]*)</g)].map(([, label]) => label)
    expect(marked).toEqual(["7 days"])
  })

  it("returns 422 with the typed value and an error at the field", async () => {
    const { status, text } = await mine.browser.get('/usage?from="><b>soon&to=2026-01-01')
    expect(status).toBe(422)
    expect(text).toContain('value="&quot;&gt;&lt;b&gt;soon"')
    expect(text).toContain('<p class="error" id="from-error">Type a day such as 2026-10-15.</p>')
    expect(text).toContain('aria-describedby="from-error" aria-invalid="true"')
  })

  it("can be downloaded as a CSV file without formulas", async () => {
    const { headers, text } = await mine.browser.get("/usage.csv")
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8")
    expect(headers.get("content-disposition")).toMatch(/^attachment; filename="larder-usage-[-0-9]+\.csv"$/)
    const { data } = Papa.parse<Record<string, string>>(text, { header: true, skipEmptyLines: true })
    expect(data).toEqual([
      {
        day: new Date().toISOString().slice(0, 10),
        key_id: mine.key.id,
        key: `'${formula} (…${mine.key.last4})`,
        endpoint: "/v1/stores",
        calls: "3",
        credits: "300",
        usd: "0.3"
      }
    ])
  })

  it("has a CSV file of statuses that includes refused calls", async () => {
    const { text } = await mine.browser.get("/usage/statuses.csv")
    const { data } = Papa.parse<Record<string, string>>(text, { header: true, skipEmptyLines: true })
    const countCalls = (status: string) =>
      data.filter((row) => row.status === status).reduce((sum, row) => sum + Number(row.calls), 0)
    expect([countCalls("200"), countCalls("402")]).toEqual([117, 13])
  })

  it.each(["/usage", "/usage.csv", "/usage/statuses.csv", "/requests"])(
    "returns 404 for %s with a key of another account",
    async (path) => {
      expect((await mine.browser.get(`${path}?key=${other.key.id}`)).status).toBe(404)
      expect((await mine.browser.get(`${path}?key=${mine.key.id}`)).status).toBe(200)
    }
  )

  it.each([
    ["/usage.csv", "day,key_id,key,endpoint,calls,credits,usd"],
    ["/usage/statuses.csv", "day,key_id,key,endpoint,status,calls"]
  ])("returns an empty %s for the last days of the calendar", async (path, head) => {
    const { text } = await mine.browser.get(`${path}?from=9999-12-20&to=9999-12-31`)
    expect(text).toBe(`${head}\r\n`)
  })

  it.each(["/usage.csv?from=soon", "/usage/statuses.csv?from=soon", "/usage?endpoint=/v2/none"])(
    "returns 404 for %s",
    async (target) => {
      expect((await mine.browser.get(target)).status).toBe(404)
    }
  )
})

describe("the requests page", () => {
  const readIds = (pages: ReadonlyArray<string>) => pages.flatMap((page) => readColumn(page, 1))
  const listExpectedIds = (isExpected: (call: RequestRecord) => boolean) =>
    Array.from({ length: calls }, (_, index) => aLoggedCall(mine, index))
      .filter(isExpected)
      .map(({ id }) => id)
      .toSorted()

  it("shows every call of the account once over all pages, and no call of other accounts", async () => {
    const pages = await readAllPages(mine.browser, "/requests")
    expect(pages.length).toBe(3)
    expect([...readIds(pages)].sort()).toEqual(listExpectedIds(() => true))
  })

  it("shows every call that matches key, endpoint and status", async () => {
    const pages = await readAllPages(mine.browser, `/requests?key=${mine.key.id}&endpoint=/v1/stores&status=200`)
    expect([...readIds(pages)].sort()).toEqual(
      listExpectedIds(({ endpoint, status }) => endpoint === "/v1/stores" && status === 200)
    )
  })

  it("links from older calls back to the newest", async () => {
    const [first = ""] = await readAllPages(mine.browser, "/requests?status=200")
    const older = await mine.browser.get(findLink(first, "Older") ?? "")
    expect(findLink(older.text, "Newest")).toBe("/requests?status=200")
  })

  it("states that none of the latest calls matches", async () => {
    const { status, text } = await mine.browser.get("/requests?status=503")
    expect([status, text.includes("None of the latest calls matches.")]).toEqual([200, true])
  })

  it("shows the ids that a caller gave its call, escaped, and finds the call by them", async () => {
    const named = { id: "req_named", caller_request_id: "order-17", traceparent: "<b>" }
    await console.run(RequestLog.use((log) => Effect.sync(() => log.record({ ...aLoggedCall(other, 200), ...named }))))
    const { text } = await other.browser.get("/requests?request=order-17")
    expect(readColumn(text, 1)).toEqual(["req_namedyours: order-17yours: <b>"])
    expect((await mine.browser.get("/requests?request=order-17")).text).not.toContain("req_named")
  })

  const beforeAllCalls = "before=2001-01-01T00:00:00.000Z~x"

  it("states that no older call is kept, on a page before the oldest one", async () => {
    const { text } = await mine.browser.get(`/requests?${beforeAllCalls}`)
    expect(text).toContain("No stored call is from before this page.")
    expect(text).not.toContain("No calls yet")
    expect(findLink(text, "Newest")).toBe("/requests")
  })

  it("states that no older call matches, on such a page with a filter", async () => {
    const { text } = await mine.browser.get(`/requests?status=200&${beforeAllCalls}`)
    expect(text).toContain("No stored call from before this page matches.")
    expect(text).not.toContain("None of the latest calls matches.")
    expect(findLink(text, "Newest")).toBe("/requests?status=200")
  })

  it("states that there are no calls yet", async () => {
    const { browser } = await console.signIn()
    expect((await browser.get("/requests")).text).toContain("No calls yet")
  })

  it("finds a call of the account by its request id", async () => {
    const { id } = aLoggedCall(mine, 77)
    const { text } = await mine.browser.get(`/requests?request=+${id}+`)
    expect(readColumn(text, 1)).toEqual([id])
    expect(text).toContain(`name="request" type="search" value="${id}"`)
  })

  it("finds no call of another account by its request id", async () => {
    const { text } = await mine.browser.get(`/requests?request=${aLoggedCall(other, 77).id}`)
    expect(text).toContain("None of the latest calls matches.")
  })

  it("states which calls it does not list", async () => {
    const { text } = await mine.browser.get("/requests")
    expect(text).toContain("Calls with a revoked or unknown key are not listed")
  })

  it.each(["before=yesterday", "before=2026-10-15T12:00:00.000Z", "status=2xx", "status=405"])(
    "returns 404 for %s",
    async (query) => {
      expect((await mine.browser.get(`/requests?${query}`)).status).toBe(404)
    }
  )
})

it.each(["/usage", "/usage.csv", "/usage/statuses.csv", "/requests"])("%s requires signing in", async (path) => {
  const { headers, status } = await console.openBrowser().get(path)
  expect([status, headers.get("location")?.split("?")[0]]).toEqual([303, "/sign-in"])
})

/** The error pages. The last test breaks the tables. Takes ten seconds. */
import { ConsoleDatabase } from "@larder/serve/persistence"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { type SignedIn, startSpendingConsole } from "../../support/console/spending-console.ts"
import { findAccessibilityProblems } from "./accessibility.ts"
import { makeSignedInPages } from "./signed-in.ts"

const console = startSpendingConsole()
const runSignedIn = makeSignedInPages(console)
let customer: SignedIn

beforeAll(async () => {
  customer = await console.signIn()
})

const run = (sql: string) => console.run(ConsoleDatabase.use((database) => database.run(sql)))
const open = (page: Page, path: string) => page.goto(console.url() + path)
/** Sends an empty form from the current page. */
const sendForm = async (page: Page, path: string, encoding: string) => {
  const form = `Object.assign(document.createElement("form"), { action: "${console.url()}${path}", method: "post", enctype: "${encoding}" })`
  const response = page.waitForResponse((response) => response.request().method() === "POST")
  await Promise.all([page.waitForEvent("load"), page.evaluate(`document.body.appendChild(${form}).submit()`)])
  return response
}
const urlEncoded = "application/x-www-form-urlencoded"

describe("an error page of the console", () => {
  it.each<readonly [number, string, (page: Page) => Promise<{ readonly status: () => number } | null>]>([
    [
      400,
      "Invalid form",
      async (page) => {
        await open(page, "/billing")
        return sendForm(page, "/billing/top-up", "multipart/form-data")
      }
    ],
    [403, "Not accepted", (page) => sendForm(page, "/billing/top-up", urlEncoded)],
    [404, "Page not found", (page) => open(page, "/nowhere")],
    [
      405,
      "This page does not accept this request",
      async (page) => {
        await open(page, "/billing")
        return sendForm(page, "/usage", urlEncoded)
      }
    ],
    [
      409,
      "Nothing was changed",
      async (page) => {
        await open(page, "/billing")
        return sendForm(page, "/billing/top-up", urlEncoded)
      }
    ],
    [
      500,
      "Something went wrong",
      async (page) => {
        const { account, key } = customer
        const unreadable = `'req_1', '${account.id}', '${key.id}', '/v1/stores', 200, 1, 0.5, 'once upon a time', null, null`
        await run(`insert into console.request values (${unreadable})`)
        return open(page, "/requests")
      }
    ],
    [
      503,
      "Not available right now",
      async (page) => {
        await run("drop table console.request")
        return open(page, "/requests")
      }
    ]
  ])('has status %i and the heading "%s", and is accessible', (status, title, request) =>
    runSignedIn(customer, async (page) => {
      const response = await request(page)
      expect([response?.status(), await page.getByRole("heading", { level: 1 }).innerText()]).toEqual([status, title])
      expect(await findAccessibilityProblems(page)).toEqual([])
    })
  )
})

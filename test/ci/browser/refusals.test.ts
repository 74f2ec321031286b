/** The pages that say what is not possible, the last of them for good: it breaks the tables. Takes ten seconds. */
import { ConsoleDatabase } from "@larder/serve/persistence"
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { type SignedIn, spendingConsole } from "../../support/console/spending-console.ts"
import { obstacles } from "./look.ts"
import { signedInPages } from "./signed-in.ts"

const console = spendingConsole()
const signedIn = signedInPages(console)
let mine: SignedIn

beforeAll(async () => {
  mine = await console.signedIn()
})

const run = (sql: string) => console.run(ConsoleDatabase.use((database) => database.run(sql)))
const open = (page: Page, path: string) => page.goto(console.url() + path)
/** What a page sends by itself, from where the browser is. */
const send = async (page: Page, path: string, as: string) => {
  const form = `Object.assign(document.createElement("form"), { action: "${console.url()}${path}", method: "post", enctype: "${as}" })`
  const answered = page.waitForResponse((response) => response.request().method() === "POST")
  await Promise.all([page.waitForEvent("load"), page.evaluate(`document.body.appendChild(${form}).submit()`)])
  return answered
}
const ordinary = "application/x-www-form-urlencoded"

describe("an error page of the console", () => {
  it.each<readonly [number, string, (page: Page) => Promise<{ readonly status: () => number } | null>]>([
    [
      400,
      "Not understood",
      async (page) => {
        await open(page, "/billing")
        return send(page, "/billing/top-up", "multipart/form-data")
      }
    ],
    [403, "Not accepted", (page) => send(page, "/billing/top-up", ordinary)],
    [404, "Page not found", (page) => open(page, "/nowhere")],
    [
      405,
      "Not possible here",
      async (page) => {
        await open(page, "/billing")
        return send(page, "/usage", ordinary)
      }
    ],
    [
      500,
      "Something went wrong",
      async (page) => {
        const { account, key } = mine
        const unreadable = `'req_1', '${account.id}', '${key.id}', '/v1/stores', 200, 1, 0.5, 'once upon a time'`
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
  ])('answers %i with the heading "%s", and is accessible', (status, title, ask) =>
    signedIn(mine, async (page) => {
      const answer = await ask(page)
      expect([answer?.status(), await page.getByRole("heading", { level: 1 }).innerText()]).toEqual([status, title])
      expect(await obstacles(page)).toEqual([])
    })
  )
})

/** The page of a new key, which asks before it is left without a copy. Takes five seconds. */
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { type SignedIn, startSpendingConsole } from "../../support/console/spending-console.ts"
import { makeSignedInPages } from "./signed-in.ts"

const console = startSpendingConsole()
const runSignedIn = makeSignedInPages(console)
let customer: SignedIn

beforeAll(async () => {
  customer = await console.signIn()
})

/** Opens the page of a new key. `questions` collects the browser's dialogs; the person always stays. */
const withNewKey = (run: (page: Page, questions: ReadonlyArray<string>) => Promise<void>) =>
  runSignedIn(
    customer,
    async (page) => {
      const questions: Array<string> = []
      page.on("dialog", (dialog) => {
        questions.push(dialog.type())
        void dialog.dismiss()
      })
      await page.goto(`${console.url()}/keys/new`)
      await page.getByLabel("Name").fill("shown once")
      await page.getByRole("button", { name: "Create the key" }).click()
      await page.locator("#new-key").waitFor()
      await run(page, questions)
    },
    { permissions: ["clipboard-read", "clipboard-write"] }
  )
const billingLink = (page: Page) => page.getByRole("navigation").getByRole("link", { name: "Billing" })

describe("the page of a new key", () => {
  it("asks before it is left without a copy of the key, and stays open if the person stays", () =>
    withNewKey(async (page, questions) => {
      await billingLink(page).click()
      await expect.poll(() => questions).toEqual(["beforeunload"])
      expect(await page.locator("#new-key").innerText()).toMatch(/^svc_data_/)
    }))

  it.each<readonly [string, (page: Page) => Promise<unknown>]>([
    ["has copied it with the button", (page) => page.getByRole("button", { name: "Copy the key" }).click()],
    [
      "has selected and copied it",
      async (page) => {
        await page.locator("#new-key").selectText()
        await page.keyboard.press("ControlOrMeta+c")
      }
    ]
  ])("does not ask a person who %s", (_, copy) =>
    withNewKey(async (page, questions) => {
      await copy(page)
      await billingLink(page).click()
      await page.waitForURL(`${console.url()}/billing`)
      expect(questions).toEqual([])
    })
  )

  it("does not ask a person who confirms that the key is copied", () =>
    withNewKey(async (page, questions) => {
      await page.getByRole("link", { name: "Done, I have copied it" }).click()
      await page.waitForURL(`${console.url()}/keys`)
      expect(questions).toEqual([])
    }))

  it("opens the guide to assistants in a new tab, and stays open itself", () =>
    withNewKey(async (page, questions) => {
      const opened = page.context().waitForEvent("page")
      await page.getByRole("link", { name: "Guide to assistants" }).click()
      await opened
      expect(questions).toEqual([])
      expect(await page.locator("#new-key").innerText()).toMatch(/^svc_data_/)
    }))
})

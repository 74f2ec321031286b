/** A key is shown once: whoever is about to leave without it is asked. Takes five seconds. */
import type { Page } from "playwright-core"
import { beforeAll, describe, expect, it } from "vitest"
import { type SignedIn, spendingConsole } from "../../support/console/spending-console.ts"
import { signedInPages } from "./signed-in.ts"

const console = spendingConsole()
const signedIn = signedInPages(console)
let mine: SignedIn

beforeAll(async () => {
  mine = await console.signedIn()
})

/** Before the page with the new key; `questions` grows with each that the browser asks, and all are answered by staying. */
const withNewKey = (play: (page: Page, questions: ReadonlyArray<string>) => Promise<void>) =>
  signedIn(
    mine,
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
      await play(page, questions)
    },
    { permissions: ["clipboard-read", "clipboard-write"] }
  )
const billing = (page: Page) => page.getByRole("navigation").getByRole("link", { name: "Billing" })

describe("the page of a new key", () => {
  it("asks before it is left without a copy of the key, and stays open when the answer is no", () =>
    withNewKey(async (page, questions) => {
      await billing(page).click()
      await expect.poll(() => questions).toEqual(["beforeunload"])
      expect(await page.locator("#new-key").innerText()).toMatch(/^svc_data_/)
    }))

  it.each<readonly [string, (page: Page) => Promise<unknown>]>([
    ["has copied it by the button", (page) => page.getByRole("button", { name: "Copy the key" }).click()],
    [
      "has selected and copied it",
      async (page) => {
        await page.locator("#new-key").selectText()
        await page.keyboard.press("ControlOrMeta+c")
      }
    ]
  ])("asks nothing when a person leaves who %s", (_, copy) =>
    withNewKey(async (page, questions) => {
      await copy(page)
      await billing(page).click()
      await page.waitForURL(`${console.url()}/billing`)
      expect(questions).toEqual([])
    })
  )

  it("asks nothing when a person says that the key is copied", () =>
    withNewKey(async (page, questions) => {
      await page.getByRole("link", { name: "Done, I have copied it" }).click()
      await page.waitForURL(`${console.url()}/keys`)
      expect(questions).toEqual([])
    }))

  it("opens the guide to assistants in another page, and stays open itself", () =>
    withNewKey(async (page, questions) => {
      const opened = page.context().waitForEvent("page")
      await page.getByRole("link", { name: "Guide to assistants" }).click()
      await opened
      expect(questions).toEqual([])
      expect(await page.locator("#new-key").innerText()).toMatch(/^svc_data_/)
    }))
})

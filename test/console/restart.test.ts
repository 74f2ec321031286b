import { rmSync } from "node:fs"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, expect, inject, it } from "vitest"
import { makeBrowser } from "../support/console/browser.ts"
import { findKey, readHiddenFields } from "../support/console/pages.ts"
import { addQuickPasswords } from "../support/console/quick-passwords.ts"
import { password } from "../support/console/served-console.ts"
import { startServer } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"
import { newKey } from "./key-forms.ts"

const home = copyHome(inject("sampleHome"))
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** The secret that signs the forms, from the file of the ledger. */
const readSecret = () => {
  const database = new DatabaseSync(path.join(home, "ledger", "ledger.sqlite"), { readOnly: true })
  try {
    return String(database.prepare("select secret from form_secret").get()?.secret)
  } finally {
    database.close()
  }
}

it("a form that was opened before a restart is accepted after it, and no log contains its secret", async () => {
  const verbose = ["--log-level", "debug"]
  const address = "http://console.example"
  const environment = addQuickPasswords({ LARDER_CONSOLE_URL: address })
  const first = await startServer(home, environment, ["--demo", ...verbose])
  const browser = makeBrowser(first.console, address)
  await browser.post(new URL(first.first_link ?? "").pathname, { email: "ada@example.com", password })
  const form = { ...readHiddenFields((await browser.get("/keys/new")).text), ...newKey }
  await first.stop()

  const second = await startServer(home, environment, verbose)
  const sent = await makeBrowser(second.console, address, browser.cookies).post("/keys/new", form)
  await second.stop()
  expect(findKey(sent.text)).toBeDefined()
  const secret = readSecret()
  expect(secret).toMatch(/^[\w-]{43}$/)
  expect((first.logs() + second.logs()).includes(secret)).toBe(false)
})

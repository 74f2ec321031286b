import { assert, describe, it } from "@effect/vitest"
import { H3 } from "h3"
import { makeCookies } from "./cookies.ts"

const cookies = makeCookies(false)

/** Stores a notice in a cookie and reads it from the next request. */
const storeAndRead = async (text: string) => {
  const app = new H3()
  app.get("/", (event) => cookies.readFlash(event)?.text ?? "nothing")
  const [cookie = ""] = cookies.makeFlashCookie({ tone: "good", text }).split(";")
  assert.isBelow(cookie.length, 4_000)
  const response = await app.request("/", { headers: { cookie } })
  return response.text()
}

describe("a message for the next page", () => {
  it("shows a complete message, even with a name of 200 emoji", async () => {
    const text = `“${"😀".repeat(200)}” is saved.`
    assert.strictEqual(await storeAndRead(text), text)
  })

  it("truncates a message to 500 characters and never splits a character", async () => {
    assert.strictEqual(await storeAndRead("x".repeat(501)), `${"x".repeat(499)}…`)
    assert.strictEqual(await storeAndRead("😀".repeat(251)), `${"😀".repeat(249)}…`)
    assert.strictEqual(await storeAndRead("語".repeat(501)), `${"語".repeat(499)}…`)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { H3 } from "h3"
import { makeCookies } from "./cookies.ts"

const cookies = makeCookies(false)

/** The notice that the next page shows. */
const told = async (text: string) => {
  const app = new H3()
  app.get("/", (event) => cookies.flashOf(event)?.text ?? "nothing")
  const [cookie = ""] = cookies.setFlash({ tone: "good", text }).split(";")
  assert.isBelow(cookie.length, 4_000)
  const answer = await app.request("/", { headers: { cookie } })
  return answer.text()
}

describe("a message for the next page", () => {
  it("shows a message whole, also with a name of 200 emoji", async () => {
    const text = `“${"😀".repeat(200)}” is saved.`
    assert.strictEqual(await told(text), text)
  })

  it("cuts a message at 500 characters and never splits a character", async () => {
    assert.strictEqual(await told("x".repeat(501)), `${"x".repeat(499)}…`)
    assert.strictEqual(await told("😀".repeat(251)), `${"😀".repeat(249)}…`)
    assert.strictEqual(await told("語".repeat(501)), `${"語".repeat(499)}…`)
  })
})

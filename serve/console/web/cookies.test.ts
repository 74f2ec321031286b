import { assert, describe, it } from "@effect/vitest"
import { H3 } from "h3"
import { makeCookies } from "./cookies.ts"
import { findConsoleOrigin } from "./guard.ts"

const cookies = makeCookies("http://127.0.0.1:8081")

/** Stores a notice in a cookie and reads it from the next request. */
const storeAndRead = async (text: string) => {
  const app = new H3()
  app.get("/", (event) => cookies.readFlash(event)?.text ?? "nothing")
  const [cookie = ""] = cookies.makeFlashCookie({ tone: "good", text }).split(";")
  assert.isBelow(cookie.length, 4_000)
  const response = await app.request("/", { headers: { cookie } })
  return response.text()
}

describe("the names of cookies", () => {
  const readName = (origin: string) => makeCookies(origin).sessionDeletion.split("=")[0]
  it.each([
    ["http://127.0.0.1:8081", "larder_session_127.0.0.1_8081"],
    ["http://127.0.0.1:9081", "larder_session_127.0.0.1_9081"],
    ["http://[::1]:8081", "larder_session____1__8081"],
    ["http://LOCALHOST:80", "larder_session_localhost"],
    ["https://console.example.com", "__Host-larder_session_console.example.com"],
    ["https://console.example.com:8443", "__Host-larder_session_console.example.com_8443"]
  ])("contain host and port of %s", (origin, name) => {
    assert.strictEqual(readName(origin), name)
  })

  it.each(["evil.example; Path=/keys", "a=b", "a,b", "[::1", '"', "x".repeat(300), "::1"])(
    "contain no part of an invalid host of a request, such as %j",
    async (host) => {
      const app = new H3()
      app.get("/", (event) => readName(findConsoleOrigin(event, undefined)))
      const response = await app.request("http://127.0.0.1:8081/", { headers: { host } })
      assert.strictEqual(await response.text(), "larder_session_localhost_8081")
    }
  )
})

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

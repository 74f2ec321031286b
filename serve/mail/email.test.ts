import { assert, describe, it } from "@effect/vitest"
import { parseEmail } from "./email.ts"

describe("an e-mail address", () => {
  it.each([
    [" Ann.Lee+larder@Example.COM ", "ann.lee+larder@example.com"],
    ["ann@localhost", "ann@localhost"],
    ["jürgen@bücher.example", "jürgen@bücher.example"]
  ])("stores %s as %s", (typed, stored) => {
    assert.strictEqual(parseEmail(typed), stored)
  })

  it.each([
    "",
    "ann",
    "@example.com",
    "ann@",
    "a b@example.com",
    "a@b@c.example",
    "a@.example",
    "a@example.",
    "a@-b.example",
    "<a@b.example>",
    "a\n@b.example",
    `${"a".repeat(65)}@example.com`
  ])("rejects %j", (typed) => {
    assert.isUndefined(parseEmail(typed))
  })
})

import { createHash } from "node:crypto"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { cursorScope, decodeCursor, encodeCursor } from "./cursor.ts"

const scope = cursorScope("searchCommodities", "", { category: "dairy" })
const decodePosition = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Array(Schema.NullOr(Schema.String))))
const decode = (scope: string, cursor: string) => decodeCursor(scope, cursor, decodePosition)

describe("a cursor", () => {
  it.each([[["butter"]], [["2026-01-02", "platform_product_x"]], [[null, "x"]], [["ü—%_\u0000"]]])(
    "decodes to the encoded position %j",
    (position) => {
      expect(decode(scope, encodeCursor(scope, position))).toEqual(position)
    }
  )
  it("is rejected for another endpoint, id or filter", () => {
    const cursor = encodeCursor(scope, ["butter"])
    expect(decode(cursorScope("searchStores", "", { category: "dairy" }), cursor)).toBeUndefined()
    expect(decode(cursorScope("searchCommodities", "x", { category: "dairy" }), cursor)).toBeUndefined()
    expect(decode(cursorScope("searchCommodities", "", { category: "dairy/butter" }), cursor)).toBeUndefined()
  })
  it.each(["not json", "[5]", '[{"a":1}]', '"a"', '{"length":1}', "null"])(
    "rejects the content %s, even with the right digest",
    (text) => {
      const digest = createHash("sha256").update(`1\n${scope}\n${text}`).digest().subarray(0, 12)
      const cursor = Buffer.concat([digest, Buffer.from(text)]).toString("base64url")
      expect(decode(scope, cursor)).toBeUndefined()
    }
  )
})

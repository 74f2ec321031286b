import { describe, expect, it } from "vitest"
import { isMerchandise } from "./merchandise.ts"

const listed = (title: string, product_type: string | null = null) => ({ title, product_type, tags: [] })

describe("what is no merchandise", () => {
  it.each([
    "Gift Card",
    "E-Gift Voucher 50 EUR",
    "Route Package Protection",
    "Shipping Protection",
    "Order Insurance",
    "mc-hidden-fee",
    "Donation",
    "Tip",
    "Подарункова карта"
  ])("%s", (title) => {
    expect(isMerchandise(listed(title))).toBe(false)
  })

  it("a product of a type that is none", () => {
    expect(isMerchandise(listed("Summer", "Gift Cards"))).toBe(false)
  })

  it("a product that is never shipped", () => {
    expect(isMerchandise({ ...listed("Knitting pattern"), requires_shipping: [false, false] })).toBe(false)
  })
})

describe("what is merchandise", () => {
  it.each(["Route 66 T-Shirt", "WiFi Router", "Gift Box", "Shipping Container Planter", "Surge Protection Strip"])(
    "%s",
    (title) => {
      expect(isMerchandise(listed(title))).toBe(true)
    }
  )

  it("a product of which one variant is shipped, or of which nothing is said", () => {
    expect(isMerchandise({ ...listed("Book"), requires_shipping: [false, true] })).toBe(true)
    expect(isMerchandise({ ...listed("Book"), requires_shipping: [null] })).toBe(true)
    expect(isMerchandise({ ...listed("Book"), requires_shipping: [] })).toBe(true)
  })
})

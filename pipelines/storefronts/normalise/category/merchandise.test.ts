import { describe, expect, it } from "vitest"
import { isMerchandise } from "./merchandise.ts"

const listed = (title: string, product_type: string | null = null) => ({ title, product_type, tags: [] })

describe("products that are not merchandise", () => {
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
  ])("include the title %s", (title) => {
    expect(isMerchandise(listed(title))).toBe(false)
  })

  it("include a product whose type is not merchandise", () => {
    expect(isMerchandise(listed("Summer", "Gift Cards"))).toBe(false)
  })
})

describe("products that are merchandise", () => {
  it.each(["Route 66 T-Shirt", "WiFi Router", "Gift Box", "Shipping Container Planter", "Surge Protection Strip"])(
    "include the title %s",
    (title) => {
      expect(isMerchandise(listed(title))).toBe(true)
    }
  )
})

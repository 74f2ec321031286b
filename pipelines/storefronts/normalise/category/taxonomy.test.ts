import { describe, expect, it } from "vitest"
import { findNode, listNodes, readStatement, toToken } from "./taxonomy.ts"

const read = (text: string) => {
  const statement = readStatement(text)
  return statement && [statement.category, statement.sub_category, statement.kind]
}

describe("the taxonomy", () => {
  it("has 21 top levels and 5,595 categories", () => {
    const nodes = [...listNodes()]
    expect(nodes).toHaveLength(5595)
    expect(new Set(nodes.map(({ category }) => category)).size).toBe(21)
  })

  it("converts a name to a token, and finds a category by its path", () => {
    expect(toToken("Food, Beverages & Tobacco")).toBe("food_beverages_and_tobacco")
    expect(findNode("Home & Garden > Decor > Vases")).toMatchObject({
      category: "home_and_garden",
      sub_category: "decor"
    })
  })
})

describe("the category that a feed states", () => {
  it.each([
    ["187", ["apparel_and_accessories", "shoes", "id"]],
    ["5688", ["apparel_and_accessories", "clothing_accessories", "id"]], // since 2021
    ["Apparel & Accessories > Clothing > Dresses", ["apparel_and_accessories", "clothing", "path"]],
    ["apparel and accessories>CLOTHING", ["apparel_and_accessories", "clothing", "path"]],
    ["Apparel &amp; Accessories &gt; Shoes", ["apparel_and_accessories", "shoes", "path"]],
    ["Electronics", ["electronics", "uncategorized", "top"]],
    ["Perfume & Cologne", ["health_and_beauty", "personal_care", "name"]]
  ])("is read from %s", (text, expected) => {
    expect(read(text)).toEqual(expected)
  })

  it.each([
    ["the third level", "Food, Beverages & Tobacco > Food Items > Dairy Products > Cheese", "dairy_products"],
    ["the second level when no third is known", "Food, Beverages & Tobacco > Beverages", "beverages"],
    ["uncategorized when only the top level is known", "Food, Beverages & Tobacco", "uncategorized"]
  ])("has %s as the sub-category of food", (_, text, expected) => {
    expect(read(text)?.[1]).toBe(expected)
  })

  it("is the longest prefix that a Shopify path shares with Google's taxonomy", () => {
    expect(read("Apparel & Accessories > Clothing > Clothing Tops > T-Shirts")).toEqual([
      "apparel_and_accessories",
      "clothing",
      "path"
    ])
  })

  it("is found by its last part below the same top level when the second level has another name", () => {
    expect(read("Hardware > Electrical Stuff > Solar Panels")).toEqual([
      "hardware",
      "power_and_electrical_supplies",
      "path"
    ])
  })

  it.each(["999999999", "Gift Cards & More", "Sprzęt sportowy > Rekreacja", ""])("is not guessed from %j", (text) => {
    expect(readStatement(text)).toBeUndefined()
  })
})

import { describe, expect, it } from "vitest"
import { classify, type DescribedProduct } from "./classify.ts"
import { findPrior, surveyStore } from "./survey.ts"

const product = (title: string, more: Partial<DescribedProduct> = {}): DescribedProduct => ({
  title,
  product_type: null,
  stated_category: null,
  vendor: null,
  ...more
})
const placeOf = (title: string, more: Partial<DescribedProduct> = {}) => {
  const { category, sub_category } = classify(product(title, more))
  return `${category}/${sub_category}`
}
const storeOf = (products: ReadonlyArray<DescribedProduct>) => {
  const survey = surveyStore()
  for (const product of products) survey.add(product)
  return survey.view()
}

describe("titles: the head noun decides", () => {
  it.each([
    ["Ceramic Coffee Mug", "home_and_garden/kitchen_and_dining"],
    ["Guitar Wall Clock", "home_and_garden/decor"],
    ["Chess Club Hoodie", "apparel_and_accessories/clothing"],
    ["Mug with chocolate", "home_and_garden/kitchen_and_dining"],
    ["Wool scarf – Sheep", "apparel_and_accessories/clothing_accessories"],
    ["Organic Strawberry Jam", "food_beverages_and_tobacco/dips_and_spreads"],
    ["Silicone Teether Fish", "baby_and_toddler/baby_health"],
    ["Tênis de corrida azul", "apparel_and_accessories/shoes"],
    ["ساعة يد رجالي", "apparel_and_accessories/jewelry"],
    ["Elektrikli su ısıtıcısı", "home_and_garden/kitchen_and_dining"],
    ["Чохол для телефону", "electronics/communications"],
    ["Dulceață de caise", "food_beverages_and_tobacco/dips_and_spreads"],
    ["Acme - Bookshelf - 3 boards", "furniture/shelving"]
  ])("places %s by its head noun", (title, expected) => {
    expect(placeOf(title)).toBe(expected)
  })

  it("places a product by its purpose, unless it is worn or a toy", () => {
    expect(placeOf("Bed for pets")).toBe("animals_and_pet_supplies/pet_supplies")
    expect(placeOf("Car vacuum cleaner")).toBe("vehicles_and_parts/vehicle_parts_and_accessories")
    expect(placeOf("Fishing Hat")).toBe("apparel_and_accessories/clothing_accessories")
    expect(placeOf("Toy car")).toBe("toys_and_games/toys")
  })

  it("does not mistake a leading vendor name for the product", () => {
    expect(placeOf("Diamond Cookware Lid", { vendor: "Diamond Cookware" })).not.toBe(
      "home_and_garden/kitchen_and_dining"
    )
  })

  it("returns the words that decided", () => {
    expect(classify(product("Blue Running Shoes"))).toMatchObject({ method: "title", evidence: "running shoe" })
  })
})

describe("the order of the evidence", () => {
  it("prefers a stated path to the type, the type to the title, and the title to collections", () => {
    const stated_category = "Media > Books"
    expect(classify(product("Mug", { stated_category, product_type: "Shoes" })).method).toBe("stated")
    expect(classify(product("Mug", { product_type: "Shoes" })).method).toBe("product_type")
    expect(classify(product("Mug", { collections: ["Shoes"] })).method).toBe("title")
  })

  it("uses a stated id", () => {
    expect(classify(product("Aurora", { stated_category: "187" }))).toMatchObject({
      category: "apparel_and_accessories",
      sub_category: "shoes",
      method: "stated",
      evidence: "187"
    })
  })

  it.each([
    ["an id", "187", "apparel_and_accessories/shoes"],
    ["a path", "Apparel & Accessories > Shoes", "apparel_and_accessories/shoes"],
    ["a top level", "Electronics", "electronics/uncategorized"]
  ])("prefers %s that is stated to another type, title and collection", (_, stated_category, expected) => {
    const others = { stated_category, product_type: "Table lamps", collections: ["Lamps"] }
    expect(placeOf("Table lamp", others)).toBe(expected)
    const store = storeOf(Array.from({ length: 30 }, () => product("Table lamp", others)))
    expect(classify(product("Table lamp", others), store)).toMatchObject({
      method: "stated",
      evidence: stated_category
    })
  })

  it("reads the second level from a title that agrees with a stated top level", () => {
    expect(placeOf("Washing machine", { stated_category: "Home & Garden" })).toBe(
      "home_and_garden/household_appliances"
    )
  })

  it("reads the second level from the title when the type names only a top level", () => {
    expect(placeOf("Blue cheese", { product_type: "Food & Beverage" })).toBe(
      "food_beverages_and_tobacco/dairy_products"
    )
  })

  it.each(["", "Placeholder", "Acme", "Uncategorized", "mc-hidden-fee"])("ignores the type %j", (product_type) => {
    expect(classify(product("Running shoes", { product_type, vendor: "Acme" })).method).toBe("title")
  })

  it("uses a collection if the product itself gives no evidence", () => {
    expect(
      classify(product("Aurora", { collections: ["Sale", "Shoes 2026", "feed_shoes", "Wall lamps"] }))
    ).toMatchObject({
      category: "home_and_garden",
      method: "collection"
    })
  })

  it("returns uncategorized with confidence 0 if nothing is known", () => {
    expect(classify(product("Aurora 7"))).toEqual({
      category: "uncategorized",
      sub_category: "uncategorized",
      method: "none",
      confidence: 0,
      evidence: null
    })
  })
})

describe("a product of a surveyed store", () => {
  const times = (count: number, product: DescribedProduct) => Array.from({ length: count }, () => product)

  it("places an unknown product in the category of most products of the store", () => {
    const store = storeOf([...times(9, product("Gold necklace pendant")), product("Candle"), product("Aurora")])
    expect(classify(product("Aurora"), store)).toMatchObject({
      category: "apparel_and_accessories",
      sub_category: "jewelry",
      method: "store_prior",
      evidence: "90 % of 10 products"
    })
  })

  it("prefers a stated category even if all titles agree on another one", () => {
    const stated_category = "Home & Garden > Decor > Artwork"
    const store = storeOf(times(30, product("Espresso", { stated_category })))
    expect(classify(product("Espresso", { stated_category }), store).category).toBe("home_and_garden")
  })

  it("prefers the title to a type that all products share", () => {
    const store = storeOf([product("Mug", { product_type: "Shoes" }), product("Aurora", { product_type: "Shoes" })])
    expect(classify(product("Mug", { product_type: "Shoes" }), store).method).toBe("title")
    expect(classify(product("Aurora", { product_type: "Shoes" }), store).category).toBe("apparel_and_accessories")
  })

  it("prefers the noun of a title that the store sells", () => {
    const store = storeOf(times(40, product("Romper")))
    expect(classify(product("Romper Violin"), store).sub_category).toBe("clothing")
    expect(classify(product("Romper Violin")).sub_category).toBe("hobbies_and_creative_arts")
  })
})

describe("what a store mostly sells", () => {
  const count = (category: string, products: number) => ({ category, sub_category: "uncategorized", products })

  it("needs more than 60 % of at least five products", () => {
    expect(findPrior([count("furniture", 6), count("media", 4)])).toBeNull()
    expect(findPrior([count("furniture", 7), count("media", 4)])?.category).toBe("furniture")
    expect(findPrior([count("furniture", 4)])).toBeNull()
  })

  it("does not count uncategorized products", () => {
    expect(findPrior([count("furniture", 7), count("uncategorized", 90)])).toMatchObject({ share: 1, products: 7 })
  })
})

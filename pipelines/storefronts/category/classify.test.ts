import { describe, expect, it } from "vitest"
import { classify, surveyStore } from "./classify.ts"
import type { Described } from "./decide.ts"
import { storePrior } from "./store-view.ts"

const product = (title: string, more: Partial<Described> = {}): Described => ({
  title,
  product_type: null,
  stated_category: null,
  tags: [],
  vendor: null,
  ...more
})
const placeOf = (title: string, more: Partial<Described> = {}) => {
  const { category, sub_category } = classify(product(title, more))
  return `${category}/${sub_category}`
}
const storeOf = (products: ReadonlyArray<Described>) => {
  const survey = surveyStore()
  for (const one of products) survey.add(one)
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
  ])("%s", (title, expected) => {
    expect(placeOf(title)).toBe(expected)
  })

  it("what a thing is for rules over the thing, unless it is worn, eaten, read or played with", () => {
    expect(placeOf("Bed for pets")).toBe("animals_and_pet_supplies/pet_supplies")
    expect(placeOf("Car vacuum cleaner")).toBe("vehicles_and_parts/vehicle_parts_and_accessories")
    expect(placeOf("Fishing Hat")).toBe("apparel_and_accessories/clothing_accessories")
    expect(placeOf("Toy car")).toBe("toys_and_games/toys")
  })

  it("a vendor's name in front names no product", () => {
    expect(placeOf("Diamond Cookware Lid", { vendor: "Diamond Cookware" })).not.toBe(
      "home_and_garden/kitchen_and_dining"
    )
  })

  it("says which words decided", () => {
    expect(classify(product("Blue Running Shoes"))).toMatchObject({ method: "title", evidence: "running shoe" })
  })
})

describe("the order of what is believed", () => {
  it("a stated path comes before the type, the type before the title, the title before tags", () => {
    const stated_category = "Media > Books"
    expect(classify(product("Mug", { stated_category, product_type: "Shoes" })).method).toBe("stated")
    expect(classify(product("Mug", { product_type: "Shoes" })).method).toBe("product_type")
    expect(classify(product("Mug", { tags: ["shoes"] })).method).toBe("title")
    expect(classify(product("Aurora", { tags: ["shoes", "allbirds::hue => grey"] }))).toMatchObject({
      category: "apparel_and_accessories",
      method: "tags"
    })
  })

  it("a stated id is a statement, too", () => {
    expect(classify(product("Aurora", { stated_category: "187" }))).toMatchObject({
      category: "apparel_and_accessories",
      sub_category: "shoes",
      method: "stated",
      evidence: "187"
    })
  })

  it.each(["DEPT_SHOES", "SUBDEPT_SHOES", "type:shoes", "Category: Shoes", "product_type_shoes"])(
    "a tag that names its kind of product says what the name after it says: %s",
    (tag) => {
      expect(classify(product("Aurora", { tags: [tag, "COLOUR_OLIVE"] }))).toMatchObject({
        category: "apparel_and_accessories",
        method: "tags"
      })
    }
  )

  it("a type against a bare id wins: ids are made up at times", () => {
    expect(classify(product("Aurora", { stated_category: "187", product_type: "Table lamps" }))).toMatchObject({
      category: "home_and_garden",
      method: "product_type"
    })
  })

  it("a title comes before a bare top level, which stands where the title says nothing", () => {
    expect(placeOf("Washing machine", { stated_category: "Electronics" })).toBe("home_and_garden/household_appliances")
    expect(placeOf("Model X100", { stated_category: "Electronics" })).toBe("electronics/uncategorized")
  })

  it("a title gives the second level to a statement that has none", () => {
    expect(placeOf("Blue cheese", { product_type: "Food & Beverage" })).toBe(
      "food_beverages_and_tobacco/dairy_products"
    )
  })

  it.each(["", "Placeholder", "Acme", "Uncategorized", "mc-hidden-fee"])("the type %j says nothing", (product_type) => {
    expect(classify(product("Running shoes", { product_type, vendor: "Acme" })).method).toBe("title")
  })

  it("a collection comes last before the store", () => {
    expect(classify(product("Aurora", { collections: ["Sale", "Wall lamps"] }))).toMatchObject({
      category: "home_and_garden",
      method: "collection"
    })
  })

  it("nothing at all is uncategorized, without confidence", () => {
    expect(classify(product("Aurora 7"))).toEqual({
      category: "uncategorized",
      sub_category: "uncategorized",
      method: "none",
      confidence: 0,
      evidence: null
    })
  })
})

describe("with the whole store in view", () => {
  const times = (count: number, one: Described) => Array.from({ length: count }, () => one)

  it("a store that mostly sells one thing sells it where nothing else is known", () => {
    const store = storeOf([...times(9, product("Gold necklace pendant")), product("Candle"), product("Aurora")])
    expect(classify(product("Aurora"), store)).toMatchObject({
      category: "apparel_and_accessories",
      sub_category: "jewelry",
      method: "store_prior",
      evidence: "90 % of 10 products"
    })
  })

  it("a category that is stated of all sorts of things is not believed, and counts for nothing", () => {
    const stated_category = "Health & Beauty > Personal Care"
    const titles = ["Jeans", "Sneakers", "Air fryer", "Frying pan", "Power bank", "Yoga mat", "Sofa", "Shampoo"]
    const store = storeOf(titles.flatMap((title) => times(3, product(title, { stated_category }))))
    expect(classify(product("Jeans", { stated_category }), store).category).toBe("apparel_and_accessories")
    expect(store.prior).toBeNull()
  })

  it("a category that the titles call otherwise with one voice stands: they may name what is on a poster", () => {
    const stated_category = "Home & Garden > Decor > Artwork"
    const store = storeOf(times(30, product("Espresso", { stated_category })))
    expect(classify(product("Espresso", { stated_category }), store).category).toBe("home_and_garden")
  })

  it("ids that types and titles contradict more often than not are not believed", () => {
    const store = storeOf(times(4, product("Bicycle pedals", { stated_category: "187" })))
    expect(classify(product("Bicycle pedals", { stated_category: "187" }), store).category).toBe("sporting_goods")
  })

  it("ids that are not believed do not tell what a store sells either", () => {
    const stated_category = "187"
    const store = storeOf([
      ...times(2, product("Bicycle pedals", { stated_category })),
      ...times(8, product("Aurora", { stated_category }))
    ])
    expect(store).toMatchObject({ believesIds: false, prior: null })
    expect(classify(product("Aurora", { stated_category }), store).category).toBe("uncategorized")
  })

  it("a type that all products share comes after the title", () => {
    const store = storeOf([product("Mug", { product_type: "Shoes" }), product("Aurora", { product_type: "Shoes" })])
    expect(classify(product("Mug", { product_type: "Shoes" }), store).method).toBe("title")
    expect(classify(product("Aurora", { product_type: "Shoes" }), store).category).toBe("apparel_and_accessories")
  })

  it("of two nouns in a title the one is meant that the store sells", () => {
    const store = storeOf(times(40, product("Romper")))
    expect(classify(product("Romper Violin"), store).sub_category).toBe("clothing")
    expect(classify(product("Romper Violin")).sub_category).toBe("hobbies_and_creative_arts")
  })
})

describe("what a store mostly sells", () => {
  const count = (category: string, products: number) => ({ category, sub_category: "uncategorized", products })

  it("needs more than 60 % of at least five products", () => {
    expect(storePrior([count("furniture", 6), count("media", 4)])).toBeNull()
    expect(storePrior([count("furniture", 7), count("media", 4)])?.category).toBe("furniture")
    expect(storePrior([count("furniture", 4)])).toBeNull()
  })

  it("does not count what is uncategorized", () => {
    expect(storePrior([count("furniture", 7), count("uncategorized", 90)])).toMatchObject({ share: 1, products: 7 })
  })
})

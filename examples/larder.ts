/**
 * The TypeScript client: `LARDER_API_KEY=… npx node examples/larder.ts`. `LARDER_URL` is the address of the API. A run
 * makes five paid calls and costs at most 230 credits. The same code works in a browser, which has no environment: pass key
 * and address to the client directly.
 */
import { env } from "node:process"
import { LarderError } from "@larder/schemas/client/errors.ts"
import { Larder } from "@larder/schemas/client/larder.ts"

const { LARDER_API_KEY: key = "", LARDER_URL: url = "http://127.0.0.1:8080" } = env
const larder = new Larder({ key, url })

// Many series cost as much as one. Prices are numbers here: a published 1.6140 is 1.614.
const { data: prices } = await larder.getCommodityPrices({
  series: ["cheese-block-sales-price-weekly", "butter-sales-price-weekly"],
  from: "2026-09-01"
})
for (const { points, slug, unit } of prices) {
  const latest = points.at(-1)
  if (latest !== undefined) console.log(`${slug}: ${latest.value} ${unit} on ${latest.date}`)
}

// Rows of all pages, one after the other. Each page is a paid call; after the loop, no more pages are fetched.
const saltiest = { description: "", sodium: 0 }
let foods = 0
for await (const { description, nutrition } of larder.searchBrandedFoods.all({ category: "cheese", limit: 200 })) {
  if ((nutrition.sodium ?? 0) > saltiest.sodium) Object.assign(saltiest, { description, sodium: nutrition.sodium })
  if (++foods === 400) break
}
const salt = `the saltiest has ${saltiest.sodium} mg of sodium per serving: ${saltiest.description}`
console.log(`${foods} cheeses; ${saltiest.sodium > 0 ? salt : "none of them states that it has salt"}`)

// The ids of results can be passed to other calls. Each kind of id has its own type.
const { data: stores } = await larder.searchStores({ query: "bakery", limit: 1 })
for (const { id, name } of stores) {
  const { cost, data: products } = await larder.getStoreProducts(id, { limit: 3 })
  for (const { price, title } of products) console.log(`${name}: ${title}, ${price.min} ${price.currency}`)
  console.log(`The list cost ${cost.creditsCharged} credits`)
}

// Errors are classes, and cost nothing. The client has already retried 5xx, and nothing else.
try {
  await larder.getCommodityPrices({ series: ["unobtainium"] })
} catch (error) {
  if (!(error instanceof LarderError)) throw error
  console.log(`${error.status} ${error.type}: ${error.message} (${error.requestId})`)
}
console.log(`${larder.lastCall?.creditsRemaining} credits left`)

/** Compares the rows of a generation with those of its recordings. */
import { Schema } from "effect"
import type { Written } from "../../samples/storefronts/written.ts"
import { databaseFile } from "../foods/sizes.ts"
import { withWarehouse } from "../foods/warehouse.ts"

const Counts = Schema.Struct({
  products: Schema.Int,
  variants: Schema.Int,
  images: Schema.Int,
  cents: Schema.Int
})

const selectCounts = `
  select
    count(*)::integer as products,
    sum(len(variants))::integer as variants,
    sum(len(images))::integer as images,
    round(sum(coalesce(list_sum([variant.price for variant in variants]), 0)) * 100)::double as cents
  from storefront.product`

/** Fails if they differ. */
export const requireSameCounts = async (home: string, written: Written) => {
  const [counts] = await withWarehouse(databaseFile(home, "storefronts"), ({ all }) => all(Counts, selectCounts))
  const { images, price_sum, products, variants } = written
  const expected = { products, variants, images, cents: Number(price_sum.replace(".", "")) }
  const [found, recorded] = [JSON.stringify(counts), JSON.stringify(expected)]
  if (found !== recorded) throw new Error(`The generation contains ${found} instead of ${recorded}`)
}

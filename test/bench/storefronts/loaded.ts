/** What a generation holds: a load that lost rows is not a fast one. */

import { Schema } from "effect"
import type { Written } from "../../samples/storefronts/written.ts"
import { databaseOf } from "../foods/sizes.ts"
import { withWarehouse } from "../foods/warehouse.ts"

const Loaded = Schema.Struct({
  products: Schema.Int,
  variants: Schema.Int,
  images: Schema.Int,
  cents: Schema.Int
})

const loaded = `
  select
    count(*)::integer as products,
    sum(len(variants))::integer as variants,
    sum(len(images))::integer as images,
    round(sum(coalesce(list_sum([variant.price for variant in variants]), 0)) * 100)::double as cents
  from storefront.product`

/** Fails where they differ. */
export const holdsAll = async (home: string, written: Written) => {
  const [found] = await withWarehouse(databaseOf(home, "storefronts"), ({ all }) => all(Loaded, loaded))
  const { images, price_sum, products, variants } = written
  const expected = { products, variants, images, cents: Number(price_sum.replace(".", "")) }
  const [isSaid, isMeant] = [JSON.stringify(found), JSON.stringify(expected)]
  if (isSaid !== isMeant) throw new Error(`The generation holds ${isSaid} and should hold ${isMeant}`)
}

/**
 * Fields that a feed may leave out. If a field had values at the last read of the store and now occurs in no row, it
 * was more likely renamed than dropped. It would be blanked for the whole store without any notice. A field that is
 * present but empty is no fault. Status columns are not included: nothing is known about drafts that could be missing.
 */
import { type DuckDb, literal } from "@larder/warehouse/duckdb.ts"
import { fromLive } from "@larder/warehouse/live/previous.ts"
import { storefront } from "@larder/warehouse/tables/storefront/data-set.ts"
import { Effect, Schema } from "effect"
import type { RunContext } from "../../run/pipeline.ts"
import type { ListedStore } from "../source/store-list.ts"

interface OptionalField {
  /** SQL condition on a row of `storefront.product`: whether the field has a value. */
  readonly stated: string
  /** Its names in each kind of feed, as passed to `Judged.saw`; one is enough. A kind without names is not checked. */
  readonly names: Partial<Record<ListedStore["kind"], ReadonlyArray<string>>>
}

const inVariants = (field: string) => `len(list_filter(variants, lambda variant: variant.${field} is not null)) > 0`

const csv = "shopify-csv"
const google = "google-merchant"
const optionalFields: Readonly<Record<string, OptionalField>> = {
  vendor: {
    stated: "vendor is not null",
    names: { shopify: ["vendor"], woocommerce: ["brands"], [csv]: ["vendor"], [google]: ["brand"] }
  },
  product_type: {
    stated: "product_type is not null",
    names: {
      shopify: ["product_type"],
      woocommerce: ["categories"],
      [csv]: ["type", "custom product type"],
      [google]: ["product_type", "category"]
    }
  },
  tags: { stated: "len(tags) > 0", names: { shopify: ["tags"], woocommerce: ["tags"], [csv]: ["tags"] } },
  body_text: {
    stated: "body_text is not null",
    names: {
      shopify: ["body_html"],
      woocommerce: ["description", "short_description"],
      [csv]: ["body (html)", "description"],
      [google]: ["description", "summary", "content"]
    }
  },
  images: {
    stated: "len(images) > 0",
    names: {
      shopify: ["images"],
      woocommerce: ["images"],
      [csv]: ["image src", "product image url", "image source"],
      [google]: ["image_link", "additional_image_link"]
    }
  },
  published_at: { stated: "published_at is not null", names: { shopify: ["published_at"] } },
  sku: {
    stated: inVariants("sku"),
    names: { shopify: ["variant sku"], woocommerce: ["sku"], [csv]: ["variant sku", "sku"] }
  },
  barcode: {
    stated: inVariants("barcode"), // the pages of Shopify have none
    names: { [csv]: ["variant barcode", "barcode"], [google]: ["gtin"] }
  },
  compare_at_price: {
    stated: inVariants("compare_at_price"), // items of a Google feed have a sale_price only during a sale
    names: {
      shopify: ["variant compare_at_price"],
      woocommerce: ["regular_price"],
      [csv]: ["variant compare at price", "compare-at price"]
    }
  },
  grams: {
    stated: inVariants("grams"),
    names: {
      shopify: ["variant grams"],
      [csv]: ["variant grams", "weight value (grams)"],
      [google]: ["shipping_weight"]
    }
  },
  available: {
    stated: inVariants("available"),
    names: {
      shopify: ["variant available"],
      woocommerce: ["is_in_stock"],
      [csv]: [
        "variant inventory qty",
        "inventory quantity",
        "variant inventory policy",
        "continue selling when out of stock",
        "variant inventory tracker",
        "inventory tracker"
      ],
      [google]: ["availability"]
    }
  },
  options: {
    stated: inVariants("option1"),
    names: { shopify: ["variant option1"], [csv]: ["option1 value"], [google]: ["size", "color"] }
  },
  groups: {
    stated: "len(list_filter(variants, lambda variant: variant.native_id <> native_id)) > 0",
    names: { [google]: ["item_group_id"] }
  },
  requires_shipping: {
    stated: inVariants("requires_shipping"),
    names: { shopify: ["variant requires_shipping"], [csv]: ["variant requires shipping", "requires shipping"] }
  }
}

/** Items of a Google feed contain a field only if it has a value, so a few of them may lose it together. */
const isMissed = (kind: ListedStore["kind"], products: number, listed: number) =>
  kind !== google || (products > 2 && products * 10 > listed)

const Stated = Schema.Struct({ domain: Schema.String, field: Schema.String, products: Schema.Int })

/** One variant field takes about 2 s for a million products with four variants each. */
const statedFields = (fields: ReadonlyArray<string>, domains: ReadonlyArray<string>) => `
  select domain, field, count(*)::integer as products
  from (
    select store_id, unnest([${fields.map((field) => `case when ${optionalFields[field]?.stated} then '${field}' end`).join(", ")}]) as field
    from storefront.product
    where product_id in (select id from storefront.sighting where kind = 'product' and is_listed)
      and store_id in (select store_id from storefront.store where domain in (${domains.map(literal).join(", ")}))
  )
  join storefront.store using (store_id)
  where field is not null
  group by all`

/** A store that was read, and the fields that its feed had. */
interface Seen {
  readonly store: ListedStore
  readonly fields_seen: ReadonlySet<string>
  /** Products that were listed before. */
  readonly listed: number
}

const lackingIn = ({ fields_seen, store }: Seen) =>
  Object.entries(optionalFields).flatMap(([field, { names }]) => {
    const own = names[store.kind]
    return own === undefined || own.some((name) => fields_seen.has(name)) ? [] : [{ field, names: own }]
  })

/** A message for each store that lost a field, by domain; it names the field. */
export const lostFields = Effect.fnUntraced(function* ({ layout }: RunContext, stores: ReadonlyArray<Seen>) {
  const lacking = stores.flatMap((seen) => {
    const fields = lackingIn(seen)
    return fields.length === 0 ? [] : [{ ...seen, lacking: fields }]
  })
  const fields = [...new Set(lacking.flatMap((one) => one.lacking.map(({ field }) => field)))]
  if (lacking.length === 0) return new Map<string, string>()
  const live = yield* fromLive(layout, storefront, [], (db: DuckDb["Service"]) =>
    db.all(
      Stated,
      statedFields(
        fields,
        lacking.map(({ store }) => store.domain)
      )
    )
  )
  const before = new Map(live.map(({ domain, field, products }) => [`${domain} ${field}`, products]))
  return new Map(
    lacking.flatMap(({ lacking, listed, store }) => {
      for (const { field, names } of lacking) {
        const products = before.get(`${store.domain} ${field}`) ?? 0
        if (products === 0 || !isMissed(store.kind, products, listed)) continue
        const what = `no product has the field ${names.join(" or ")} any more, in which ${products} of ${listed} had a value`
        return [[store.domain, what] as const]
      }
      return []
    })
  )
})

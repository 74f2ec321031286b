/** The fields of products that are compared with the last read of a store. */

const variantsHave = (field: string) => `len(list_filter(variants, lambda variant: variant.${field} is not null)) > 0`

/** SQL conditions on a row of `storefront.product`: whether a field has a value. */
export const hasValue = {
  vendor: "vendor is not null",
  product_type: "product_type is not null",
  tags: "len(tags) > 0",
  body_text: "body_text is not null",
  images: "len(images) > 0",
  published_at: "published_at is not null",
  sku: variantsHave("sku"),
  barcode: variantsHave("barcode"),
  compare_at_price: variantsHave("compare_at_price"),
  grams: variantsHave("grams"),
  available: variantsHave("available"),
  options: variantsHave("option1"),
  groups: "len(list_filter(variants, lambda variant: variant.native_id <> native_id)) > 0",
  requires_shipping: variantsHave("requires_shipping")
}
export type ComparedField = keyof typeof hasValue
export const comparedFields = Object.keys(hasValue) as ReadonlyArray<ComparedField> // keys of a literal object, which TypeScript widens

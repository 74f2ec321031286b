/** The fields of an item that are read. */
export const fieldNames = [
  "id",
  "item_group_id",
  "title",
  "description",
  "summary",
  "content",
  "link",
  "image_link",
  "additional_image_link",
  "availability",
  "price",
  "sale_price",
  "sale_price_effective_date",
  "currency",
  "brand",
  "gtin",
  "google_product_category",
  "product_type",
  "category",
  "shipping_weight",
  "size",
  "color"
] as const
export type FieldName = (typeof fieldNames)[number]

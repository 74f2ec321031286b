/** Where and at which level of trade the numbers of the bundled catalog are taken. An operator's own catalog can add others. */
export const regions = [
  "europe",
  "oceania",
  "south_america",
  "united_states",
  "us_central",
  "us_central_and_west",
  "us_east",
  "us_east_and_central",
  "us_west"
] as const
export const marketLevels = ["exchange_spot", "federal_order_minimum", "manufacturer_sale", "wholesale"] as const

/**
 * The files of a CSV release that are read, by base name, and their columns by header name. Releases add, drop and move
 * columns without notice: a missing column that is needed makes the file unreadable, and an unknown column is recorded
 * and left out.
 */

interface Member {
  /** Without a needed file the release cannot be read. */
  readonly needed: boolean
  readonly neededColumns: ReadonlyArray<string>
  /** Read if present. Older layouts lack them. */
  readonly otherColumns: ReadonlyArray<string>
  /** Known but not read: empty in branded foods, or stated elsewhere. The raw archive keeps them. */
  readonly leftOut: ReadonlyArray<string>
}

export const members = {
  food: {
    needed: true,
    neededColumns: ["fdc_id", "description", "publication_date"],
    otherColumns: ["data_type", "food_category_id"],
    leftOut: ["market_country", "trade_channel", "microbe_data"]
  },
  branded_food: {
    needed: true,
    neededColumns: [
      "fdc_id",
      "brand_owner",
      "gtin_upc",
      "ingredients",
      "serving_size",
      "serving_size_unit",
      "household_serving_fulltext",
      "branded_food_category",
      "data_source",
      "modified_date",
      "available_date"
    ],
    otherColumns: [
      "brand_name",
      "subbrand_name",
      "not_a_significant_source_of",
      "package_weight",
      "market_country",
      "discontinued_date",
      "preparation_state_code",
      "trade_channel",
      "short_description",
      "material_code"
    ],
    leftOut: []
  },
  food_nutrient: {
    needed: true,
    neededColumns: ["fdc_id", "nutrient_id", "amount"],
    otherColumns: ["id", "derivation_id", "percent_daily_value"],
    leftOut: [
      "data_points",
      "standard_error",
      "min",
      "max",
      "median",
      "loq",
      "footnote",
      "min_year_acquired",
      "name",
      "unit_name"
    ]
  },
  food_attribute: {
    needed: false,
    neededColumns: ["fdc_id", "name", "value"],
    otherColumns: ["id"],
    leftOut: ["seq_num", "food_attribute_type_id"]
  },
  nutrient: {
    needed: false,
    neededColumns: ["id", "name", "unit_name"],
    otherColumns: ["nutrient_nbr"],
    leftOut: ["rank"]
  },
  food_nutrient_derivation: {
    needed: false,
    neededColumns: ["id", "code", "description"],
    otherColumns: [],
    leftOut: ["source_id"]
  }
} as const satisfies Readonly<Record<string, Member>>

export type MemberName = keyof typeof members
export const memberNames = Object.keys(members) as ReadonlyArray<MemberName>

/** Labels are made of the rows of these files, and each row is accounted for. The other files are dictionaries. */
export const labelMembers = ["food", "branded_food", "food_nutrient", "food_attribute"] as const
export type LabelMember = (typeof labelMembers)[number]

/** Labels, some of them versions of one product, and the current version of each. */
import { aLabel, type Label } from "../support/label-releases.ts"

/** Versions of products, the current one last. */
export const histories: ReadonlyArray<readonly [string, ReadonlyArray<Omit<Partial<Label>, "gtin_upc">>]> = [
  ["the one published last", [{ publication_date: "2020-11-13" }, { publication_date: "2021-02-26" }]],
  [
    "the one published last, even if its id is lower",
    [
      { fdc_id: 119, publication_date: "2021-02-26" },
      { fdc_id: 118, publication_date: "2022-05-23" }
    ]
  ],
  [
    "the one published last, regardless of its days of availability and change",
    [
      { publication_date: "2021-02-26", available_date: "2025-01-01", modified_date: "2025-01-01" },
      { publication_date: "2021-02-27", available_date: "2019-01-01", modified_date: "2019-01-01" }
    ]
  ],
  [
    "the one available last of those published on one day, in either spelling",
    [
      { fdc_id: 139, publication_date: "2021-02-26", available_date: "2021-01-01", modified_date: "2021-01-01" },
      { fdc_id: 138, publication_date: "2/26/2021", available_date: "2021-01-02", modified_date: "2019-01-01" }
    ]
  ],
  [
    "the one modified last of those available on one day",
    [
      { fdc_id: 149, available_date: "2021-01-01", modified_date: "2020-12-01" },
      { fdc_id: 148, available_date: "2021-01-01", modified_date: "2020-12-02" }
    ]
  ],
  [
    "the one with the highest fdc_id of those modified on one day",
    [{ modified_date: "2020-12-01" }, { modified_date: "2020-12-01" }, { modified_date: "2020-12-01" }]
  ],
  [
    "the newest, regardless of its country",
    [
      { market_country: "New Zealand", publication_date: "2020-11-13" },
      { market_country: "United States", publication_date: "2020-11-14" }
    ]
  ],
  [
    "the newest, even if it is discontinued",
    [{ publication_date: "2020-11-13" }, { publication_date: "2021-02-26", discontinued_date: "2021-06-01" }]
  ]
]

export const products = histories.map(([, versions], product) =>
  versions.map((version, index) =>
    aLabel({
      fdc_id: 100 + 10 * product + index,
      gtin_upc: `0596429324${10 + product}`,
      description: `PRODUCT ${product}`,
      branded_food_category: index === versions.length - 1 ? "New" : "Old",
      ...version
    })
  )
)

const others: ReadonlyArray<Label> = [
  // one barcode, two sources, differently padded: two products
  aLabel({ fdc_id: 300, data_source: "LI", gtin_upc: "041220576074", description: "TWIN" }),
  aLabel({ fdc_id: 301, data_source: "GDSN", gtin_upc: "00041220576074", description: "TWIN" }),
  aLabel({
    fdc_id: 302,
    data_source: "GDSN",
    gtin_upc: "41220576074",
    description: "TWIN",
    publication_date: "2019-04-01"
  }),
  // one barcode of one source, differently padded: one product
  aLabel({ fdc_id: 310, gtin_upc: "813090004442", description: "PADDED", publication_date: "2019-04-01" }),
  aLabel({ fdc_id: 311, gtin_upc: "00813090004442", description: "PADDED" }),
  // without a barcode, each label is a separate product
  aLabel({ fdc_id: 320, description: "BARE" }),
  aLabel({ fdc_id: 321, description: "BARE" })
]

/** A search for this brand finds all of them and no other label. */
export const versionsBrand = "Versions & Sons"
export const versions: ReadonlyArray<Label> = [...products.flat(), ...others].map((label) => ({
  ...label,
  brand_owner: versionsBrand
}))

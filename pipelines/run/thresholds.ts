/**
 * The numbers by which a run judges what it read. `docs/ingesting.md` has the same table. When data counts as late is not
 * part of it: the view `ingest.freshness` decides that.
 */

interface Threshold {
  readonly value: number
  /** The comparison with the value, in words: `more than 2 %`, `at least 3 feeds`. */
  readonly limit: string
  /** The pipelines or sources that it applies to. */
  readonly of: string
  /** What is compared with it. */
  readonly what: string
  readonly consequence: string
}

type Comparison = "more than" | "at least"
const operators = { "more than": ">", "at least": ">=" } as const
const compare = (a: number, comparison: Comparison, b: number) => (comparison === "more than" ? a > b : a >= b)

/** A limit for a count. The words in the table, the test in code and the one in SQL come from one comparison. */
const count = (comparison: Comparison, value: number, noun: string) => ({
  value,
  limit: `${comparison} ${value.toLocaleString("en-US")} ${noun}`,
  isMetBy: (found: number) => compare(found, comparison, value),
  sql: (found: string) => `${found} ${operators[comparison]} ${value}`
})

/** A limit for a part of a whole. It multiplies, because quotients are not exact. */
const share = (comparison: Comparison, value: number, ofParts: number, words: string) => ({
  value,
  limit: `${comparison} ${words}`,
  isMetBy: (part: number, whole: number) => compare(part * ofParts, comparison, value * whole),
  sql: (part: string, whole: string) => `${ofParts} * (${part}) ${operators[comparison]} ${value} * ${whole}`
})
const percent = (comparison: Comparison, value: number) => share(comparison, value, 100, `${value} %`)
const oneIn = (comparison: Comparison, parts: number) => share(comparison, 1, parts, `1 in ${parts}`)

const gap = (frequency: string, days: number) => ({
  ...count("more than", days, "days"),
  of: "commodities",
  what: `days from a new price to its nearest neighbour, in a report that is ${frequency}`,
  consequence: "a check warns"
})

export const thresholds = {
  // all pipelines
  rejectedShare: {
    ...percent("more than", 2),
    of: "all",
    what: "rejected rows of a report, rejected labels of a release form, or rejected products of a store, and more than one of them",
    consequence: "it is left out in part: the other rows are published, exit code 4"
  },

  // commodities
  untrustedFeeds: {
    ...oneIn("more than", 3),
    of: "commodities",
    what: "untrusted feeds among those that responded",
    consequence: "nothing is published, exit code 1"
  },
  emptyFeeds: {
    ...count("at least", 3, "feeds"),
    of: "commodities",
    what: "feeds of a service that respond without any row for days that have rows, if no other one has a row",
    consequence: "they are left out: the service ignores the days"
  },
  lostDays: {
    ...count("more than", 5, "days"),
    of: "commodities",
    what: "days that had a price and have none in a report whose column is empty in all rows",
    consequence: "the feed is left out; an optional column is reported with a warning"
  },
  daysAhead: {
    ...count("more than", 31, "days"),
    of: "commodities",
    what: "days from the publication of a row to the day that it prices",
    consequence: "the row is rejected"
  },
  jump: {
    ...percent("more than", 50),
    of: "commodities",
    what: "change of a new price from the one before or after it, as a share of the lower of the two; basis quotes excepted",
    consequence: "a check warns"
  },
  dailyGap: gap("daily", 14),
  weeklyGap: gap("weekly", 35),
  biweeklyGap: gap("biweekly", 70),
  monthlyGap: gap("monthly", 100),
  annualGap: gap("annual", 800),
  publicationLag: {
    ...count("more than", 120, "days"),
    of: "commodities",
    what: "days from a new price to its publication",
    consequence: "a check warns that the year does not fit"
  },
  yearToDateLag: {
    ...count("more than", 460, "days"),
    of: "commodities",
    what: "the same for a price of a year-to-date report, which repeats earlier months",
    consequence: "a check warns that the year does not fit"
  },
  pointShrinkage: {
    ...percent("more than", 5),
    of: "commodities",
    what: "points fewer than are live",
    consequence: "nothing is published, exit code 3"
  },

  // branded foods
  rejectedValues: {
    ...count("at least", 10, "values"),
    of: "branded foods",
    what: "unreadable values of a key or of a required field, in a form without any readable value of it; in a form with fewer labels, as many values as labels, and at least 2",
    consequence: "the form is left out, exit code 4; an optional field only causes a warning"
  },
  recordsWithUsualKeys: {
    ...count("at least", 100, "records"),
    of: "branded foods",
    what: "labels of a JSON release, none of which has one of the usual keys",
    consequence: "the form is left out, exit code 4; an optional key only causes a warning"
  },
  missingRecords: {
    ...percent("more than", 1),
    of: "branded foods",
    what: "records of an unpacked CSV file that are missing from the number that its release states",
    consequence: "the form is left out, exit code 4"
  },
  checkedRows: {
    ...count("at least", 10_000, "rows"),
    of: "branded foods",
    what: "rows of a form in its newest release",
    consequence: "the number of rows is compared with that of the next release"
  },
  shrunkForm: {
    ...percent("more than", 5),
    of: "branded foods",
    what: "fewer rows of a form than in its newest release",
    consequence: "nothing is published, exit code 3"
  },
  fewerCurrentLabels: {
    ...percent("more than", 5),
    of: "branded foods",
    what: "fewer current labels",
    consequence: "nothing is published, exit code 3"
  },
  labelsLosingNutrients: {
    ...percent("more than", 2),
    of: "branded foods",
    what: "labels, or current labels, that lost a nutrient",
    consequence: "nothing is published, exit code 3"
  },
  labelsWithoutNutrients: {
    ...oneIn("more than", 20),
    of: "branded foods",
    what: "labels without nutrients",
    consequence: "a warning"
  },

  // storefronts
  mistypedRows: {
    ...count("at least", 3, "rows"),
    of: "storefronts",
    what: "rows with a needed field that has a value of another type in all of them",
    consequence: "the read is not accepted (`unreadable`)"
  },
  lostFieldProducts: {
    ...count("more than", 2, "products"),
    of: "storefronts",
    what: "products with a value in a field that their feed no longer has, if the feed omits empty fields",
    consequence:
      "if the next limit is exceeded, too, the read is not accepted (`unreadable`); an optional field only causes a warning"
  },
  lostFieldShare: {
    ...percent("more than", 10),
    of: "storefronts",
    what: "such products among those of the store",
    consequence:
      "if the previous limit is exceeded, too, the read is not accepted (`unreadable`); an optional field only causes a warning"
  },
  missingPrices: {
    ...count("more than", 10, "percentage points"),
    of: "storefronts",
    what: "increase of the share of prices that are missing or 0, from one read to the next",
    consequence: "the read is not accepted (`unpriced`)"
  },
  exchangedProducts: {
    ...count("at least", 3, "products"),
    of: "storefronts",
    what: "products of a store of which a read finds none, but others",
    consequence: "the read is not accepted, unless the next one finds the same (`exchanged`)"
  },
  lostProducts: {
    ...percent("more than", 50),
    of: "storefronts",
    what: "products of a store that a read does not find",
    consequence: "nothing is withdrawn until the next read confirms it (`shrunk`)"
  },
  lostRows: {
    ...percent("at least", 20),
    of: "storefronts",
    what: "the same in a CSV or TSV, which may be cut off at the end of a line",
    consequence: "nothing is withdrawn until the next read confirms it (`shrunk`)"
  },
  emptyCollections: {
    ...count("more than", 2, "collections"),
    of: "storefronts",
    what: "collections of a store, if all of them are empty",
    consequence: "the read counts as broken off"
  },
  lostStoreProducts: {
    ...percent("more than", 5),
    of: "storefronts",
    what: "products that are no longer listed, although no complete list of their store shows it",
    consequence: "nothing is published, exit code 3; `--accept-shrinkage` publishes"
  },
  priceJumps: {
    ...percent("more than", 20),
    of: "storefronts",
    what: "known prices of a store that become ten times as high or a tenth, or change even more, at once",
    consequence: "a warning that names the store"
  },
  unpricedProducts: {
    ...percent("more than", 20),
    of: "storefronts",
    what: "listed products of a store that have no price, if it lists at least 10",
    consequence: "a warning"
  }
} as const satisfies Record<string, Threshold>

/** The rows of the table in `docs/ingesting.md`. */
export const thresholdRows: ReadonlyArray<string> = Object.values<Threshold>(thresholds).map(
  ({ consequence, limit, of, what }) => `| ${of} | ${limit} | ${what} | ${consequence} |`
)

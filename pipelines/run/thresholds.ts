/**
 * The numbers by which a run judges what it read. `docs/ingesting.md` has the same table. When data counts as late is not
 * part of it: `warehouse/data-sets.ts` has that.
 */

interface Threshold {
  readonly value: number
  /** The value with its unit. */
  readonly limit: string
  /** The pipelines or sources that it applies to. */
  readonly of: string
  /** What is compared with it. */
  readonly what: string
  /** What happens above the limit, or from it on if the limit says so. */
  readonly consequence: string
}

const percent = (value: number) => ({ value, limit: `${value} %` })
const count = (value: number, noun: string) => ({ value, limit: `${value.toLocaleString("en-US")} ${noun}` })
const gap = (frequency: string) => ({
  of: "commodities",
  what: `days from a new price to its nearest neighbour, in a report that is ${frequency}`,
  consequence: "a check warns"
})
const oneIn = (value: number) => ({ value, limit: `1 in ${value}` })

export const thresholds = {
  // all pipelines
  rejectedShare: {
    ...percent(2),
    of: "all",
    what: "rejected rows of a report, rejected labels of a release form, or rejected products of a store, and more than one of them",
    consequence: "it is left out in part: the other rows are published, exit code 4"
  },

  // commodities
  untrustedFeeds: {
    ...oneIn(3),
    of: "commodities",
    what: "untrusted feeds among those that responded",
    consequence: "nothing is published, exit code 1"
  },
  emptyFeeds: {
    ...count(3, "feeds"),
    of: "commodities",
    what: "feeds of a service that respond without any row for days that have rows, if no other one has a row; from this number on",
    consequence: "they are left out: the service ignores the days"
  },
  unavailableFeeds: {
    ...count(3, "feeds"),
    of: "commodities",
    what: "feeds of a service in a row that it did not answer, from this number on",
    consequence: "each of its other feeds gets one try"
  },
  lostDays: {
    ...count(5, "days"),
    of: "commodities",
    what: "days that had a price and have none in a report whose column is empty in all rows",
    consequence: "the feed is left out; an optional column is reported with a warning"
  },
  daysAhead: {
    ...count(31, "days"),
    of: "commodities",
    what: "days from the publication of a row to the day that it prices",
    consequence: "the row is rejected"
  },
  jump: {
    ...percent(50),
    of: "commodities",
    what: "change of a new price from the one before or after it; basis quotes excepted",
    consequence: "a check warns"
  },
  dailyGap: { ...count(14, "days"), ...gap("daily") },
  weeklyGap: { ...count(35, "days"), ...gap("weekly") },
  biweeklyGap: { ...count(70, "days"), ...gap("biweekly") },
  monthlyGap: { ...count(100, "days"), ...gap("monthly") },
  annualGap: { ...count(800, "days"), ...gap("annual") },
  publicationLag: {
    ...count(120, "days"),
    of: "commodities",
    what: "days from a new price to its publication",
    consequence: "a check warns that the year does not fit"
  },
  yearToDateLag: {
    ...count(460, "days"),
    of: "commodities",
    what: "the same for a price of a year-to-date report, which repeats earlier months",
    consequence: "a check warns that the year does not fit"
  },
  pointShrinkage: {
    ...percent(5),
    of: "commodities",
    what: "fewer points than are live",
    consequence: "nothing is published, exit code 3"
  },

  // branded foods
  rejectedValues: {
    value: 10,
    limit: "10",
    of: "branded foods",
    what: "unreadable values of a key or of a required field, in a form without any readable value of it; fewer if no label is left",
    consequence: "from it on, the form is left out, exit code 4; an optional field only causes a warning"
  },
  recordsWithUsualKeys: {
    value: 100,
    limit: "100",
    of: "branded foods",
    what: "JSON records without one of the usual keys in any of them",
    consequence: "from it on, the form is left out, exit code 4; a missing optional key only causes a warning"
  },
  missingRecords: {
    ...percent(1),
    of: "branded foods",
    what: "records of an unpacked CSV file that are missing from the number that its release states",
    consequence: "the form is left out, exit code 4"
  },
  checkedRows: {
    value: 10_000,
    limit: "10,000",
    of: "branded foods",
    what: "rows of a form in its newest release",
    consequence: "from it on, the number of rows is compared with that of the next release"
  },
  shrunkForm: {
    ...percent(5),
    of: "branded foods",
    what: "fewer rows of a form than in its newest release",
    consequence: "nothing is published, exit code 3"
  },
  fewerCurrentLabels: {
    ...percent(5),
    of: "branded foods",
    what: "fewer current labels",
    consequence: "nothing is published, exit code 3"
  },
  labelsLosingNutrients: {
    ...percent(2),
    of: "branded foods",
    what: "labels, or current labels, that lost a nutrient",
    consequence: "nothing is published, exit code 3"
  },
  labelsWithoutNutrients: {
    ...oneIn(20),
    of: "branded foods",
    what: "labels without nutrients",
    consequence: "a warning"
  },

  // storefronts
  mistypedRows: {
    ...count(3, "rows"),
    of: "storefronts",
    what: "rows with a needed field that has a value of another type in all of them",
    consequence: "from this number on, the read is not accepted (`unreadable`)"
  },
  lostFieldProducts: {
    ...count(2, "products"),
    of: "storefronts",
    what: "products with a value in a field that their feed no longer has, if the feed omits empty fields",
    consequence:
      "with the next limit exceeded too, the read is not accepted (`unreadable`); an optional field only causes a warning"
  },
  lostFieldShare: {
    ...percent(10),
    of: "storefronts",
    what: "such products among those of the store",
    consequence:
      "with the previous limit exceeded too, the read is not accepted (`unreadable`); an optional field only causes a warning"
  },
  missingPrices: {
    ...percent(10),
    of: "storefronts",
    what: "increase of the share of prices that are missing or 0, from one read to the next",
    consequence: "the read is not accepted (`unpriced`)"
  },
  exchangedProducts: {
    ...count(3, "products"),
    of: "storefronts",
    what: "products of a store of which a read finds none, but others",
    consequence: "from this number on, the read is not accepted, unless the next one finds the same (`exchanged`)"
  },
  lostProducts: {
    ...percent(50),
    of: "storefronts",
    what: "products of a store that a read does not find",
    consequence: "nothing is withdrawn until the next read confirms it (`shrunk`)"
  },
  lostRows: {
    ...percent(20),
    of: "storefronts",
    what: "the same in a CSV or TSV, which may be cut off at the end of a line",
    consequence: "from this share on, nothing is withdrawn until the next read confirms it (`shrunk`)"
  },
  emptyCollections: {
    ...count(2, "collections"),
    of: "storefronts",
    what: "collections of a store, if all of them are empty",
    consequence: "the read counts as broken off"
  },
  lostStoreProducts: {
    ...percent(5),
    of: "storefronts",
    what: "products that are no longer listed, although no complete list of their store shows it",
    consequence: "nothing is published, exit code 3; `--accept-shrinkage` publishes"
  },
  priceJumps: {
    ...percent(20),
    of: "storefronts",
    what: "known prices of a store that become ten times as high or a tenth, or change even more, at once",
    consequence: "a warning that names the store"
  },
  unpricedProducts: {
    ...percent(20),
    of: "storefronts",
    what: "listed products of a store that have no price, if it lists at least 10",
    consequence: "a warning"
  }
} as const satisfies Record<string, Threshold>

/** The rows of the table in `docs/ingesting.md`. */
export const thresholdRows: ReadonlyArray<string> = Object.values<Threshold>(thresholds).map(
  ({ consequence, limit, of, what }) => `| ${of} | ${limit} | ${what} | ${consequence} |`
)

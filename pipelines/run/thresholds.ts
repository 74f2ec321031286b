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

  // branded foods
  rejectedValues: {
    value: 10,
    limit: "10",
    of: "branded foods",
    what: "unreadable values of a key or of a field of the substance, in a form without any readable value of it; fewer if no label is left",
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
  }

  // storefronts
} as const satisfies Record<string, Threshold>

/** The rows of the table in `docs/ingesting.md`. */
export const thresholdRows: ReadonlyArray<string> = Object.values<Threshold>(thresholds).map(
  ({ consequence, limit, of, what }) => `| ${of} | ${limit} | ${what} | ${consequence} |`
)

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
  }

  // branded foods

  // storefronts
} as const satisfies Record<string, Threshold>

/** The rows of the table in `docs/ingesting.md`. */
export const thresholdRows: ReadonlyArray<string> = Object.values<Threshold>(thresholds).map(
  ({ consequence, limit, of, what }) => `| ${of} | ${limit} | ${what} | ${consequence} |`
)

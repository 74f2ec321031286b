/** The texts of `ingest.data_set` for each data set. Its other columns come from runs and rows. */

export interface About {
  /** Pipeline that publishes the data set. */
  readonly pipeline: string
  readonly title: string
  readonly description: string
  /** Licence of rows from the source itself. */
  readonly licence: string
  readonly attribution: string
  /** Null if there are several, which are then in the data set's own tables. */
  readonly source_url: string | null
  /** The table with the newest day of the data set, and that day as an SQL expression. */
  readonly newest: { readonly table: string; readonly day: string }
  /** Days after which a read of the source is late: twice the interval between its runs, so that one run may fail. */
  readonly late_after_days: number
}

/**
 * Texts of a data set with bundled samples. They precede those of the source, which then hold for the values that are
 * not generated.
 */
export const aboutSamples = {
  description: "Bundled samples: most values are generated. Use none as market data.",
  licence: "Generated values: MIT. All others:",
  attribution: "Generated values: Larder's bundled samples, in the format of the source. All others:"
} as const

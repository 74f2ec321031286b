/** Indexes branded foods from the lines that DuckDB has written, in this thread or in a worker. */

import { indexLabels } from "../labels.ts"
import { indexRecords } from "../records.ts"
import { buildText } from "./text-index.ts"

/** Some of the files to write. */
export interface Indexing {
  readonly folder: string
  /** Number of current labels: each column has one text per label. */
  readonly documents: number
  /** The columns, each with the file of its texts. */
  readonly columns: ReadonlyArray<{ readonly column: string; readonly source: string }>
  /** The labels and the records: the file of the labels, and the number of records. */
  readonly others?: { readonly labels: string; readonly foods: number } | undefined
}

/** Writes these files. `awaitRecords` returns once the lines of the records are written. */
export const indexFiles = ({ columns, documents, folder, others }: Indexing, awaitRecords: () => void): void => {
  if (others !== undefined) indexLabels(others.labels, folder, documents)
  for (const { column, source } of columns) buildText(source, folder, column, documents)
  if (others === undefined) return
  awaitRecords()
  indexRecords(folder, others.foods)
}

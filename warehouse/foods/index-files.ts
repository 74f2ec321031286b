/** Indexing of branded foods: out of the lines that DuckDB has written, here or in a thread. */
import { buildText } from "./build-text.ts"
import { indexLabels } from "./labels.ts"
import { indexRecords } from "./records.ts"

/** A part of the files. */
export interface Indexing {
  readonly folder: string
  /** Current labels: what each column has a text of. */
  readonly documents: number
  /** Each with the file that has its texts. */
  readonly columns: ReadonlyArray<{ readonly column: string; readonly source: string }>
  /** The labels and the records, with the file that has the labels and the number of records. */
  readonly others?: { readonly labels: string; readonly foods: number } | undefined
}

/** Writes a part of the files. `awaitRecords` returns once the lines of the records are written. */
export const indexFiles = ({ columns, documents, folder, others }: Indexing, awaitRecords: () => void): void => {
  if (others !== undefined) indexLabels(others.labels, folder, documents)
  for (const { column, source } of columns) buildText(source, folder, column, documents)
  if (others === undefined) return
  awaitRecords()
  indexRecords(folder, others.foods)
}

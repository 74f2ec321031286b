/** Many rows for a table as one text, which costs a busy server less than objects. */

/** Between cells of a row, and between rows. No id, path or number has one of these. */
export const betweenCells = "\u001f"
export const betweenRows = "\n"

export interface RowsAsText {
  /** A name of ours, with its schema. */
  readonly table: string
  /** The type of each column, in the order of the cells. */
  readonly columns: Readonly<Record<string, "text" | "integer" | "double precision">>
  /** At least one row. */
  readonly rows: string
  /** What becomes of a row that is there already, which is called `kept`. */
  readonly onConflict?: string
}

/** What is written together. */
export type Portion = ReadonlyArray<RowsAsText>

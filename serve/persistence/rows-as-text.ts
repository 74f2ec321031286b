/** Many rows for a table as one text, which is cheaper for a busy server than objects. */

/** Separators of cells and of rows. No id, path or number contains them. */
export const betweenCells = "\u001f"
export const betweenRows = "\n"

export interface RowsAsText {
  /** A trusted table name, with its schema. */
  readonly table: string
  /** The type of each column, in the order of the cells. */
  readonly columns: Readonly<Record<string, "text" | "integer" | "double precision">>
  readonly rows: string
  /** The `on conflict` clause; it refers to the existing row as `kept`. */
  readonly onConflict?: string
}

export type Portion = ReadonlyArray<RowsAsText>

/** Rows of a table encoded as one string, which costs a busy server less than one object per row. */

/** Separators of cells and of rows. No id, path or number contains them. */
export const cellSeparator = "\u001f"
export const rowSeparator = "\n"

export interface EncodedRows {
  /** A trusted table name, with its schema. */
  readonly table: string
  /** The type of each column, in the order of the cells. */
  readonly columns: Readonly<Record<string, "text" | "integer" | "double precision">>
  /** The rows and their cells, with the separators above. An empty cell is null. */
  readonly text: string
  /** The `on conflict` clause; it refers to the existing row as `kept`. */
  readonly onConflict?: string
}

export type WriteBatch = ReadonlyArray<EncodedRows>

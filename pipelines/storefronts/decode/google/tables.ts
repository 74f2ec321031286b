/**
 * Reads a Google feed in TSV or CSV: a header with the names of the fields, and one item per record. Positions are
 * lines of the file; the header is line 1.
 */

import type { Batching } from "../csv/batching.ts"
import { type Columns, type ColumnsWanted, columnsOf } from "../csv/table-columns.ts"
import { type TableRecord, tableRecords } from "../csv/table-records.ts"
import { FeedUnreadable } from "../feed.ts"
import { Unusable } from "../page.ts"
import { type FieldName, type FieldValues, fieldNames } from "./fields.ts"
import { type ItemFound, rowOfItem } from "./rows.ts"

const wanted: ColumnsWanted<FieldName> = {
  kind: "product feed for Google",
  // `Image Link`, `image-link` and `g:image_link` are the same name.
  spelled: (name) =>
    name
      .trim()
      .toLowerCase()
      .replace(/^g:/, "")
      .replace(/[\s-]+/g, "_"),
  namesOf: (name) => [name],
  needed: ["id", "title", "price"]
}

/** One cell may list several pictures. Addresses may contain commas too. */
const severalIn = (name: FieldName, cell: string) =>
  name === "additional_image_link" ? cell.split(/,\s*(?=https?:)/i) : [cell]

const fieldsOf =
  (columns: Columns<FieldName>, record: TableRecord): FieldValues =>
  (name) =>
    severalIn(name, columns.cellOf(record, name)).filter((cell) => cell.trim() !== "")

/** Adds the items of a table to `batching`. */
export async function* readTable(
  batching: Batching,
  pieces: AsyncIterable<string>,
  about: Pick<ItemFound, "currency" | "judged">
): AsyncGenerator<void> {
  let columns: Columns<FieldName> | undefined
  const rowOf = (known: Columns<FieldName>, record: TableRecord) => {
    if (record.problem !== null) throw new Unusable(record.problem)
    return rowOfItem({ ...about, fields: fieldsOf(known, record), position: record.line })
  }
  for await (const records of tableRecords(pieces)) {
    for (const record of records) {
      const known = columns
      if (known === undefined) {
        columns = columnsOf(record, wanted)
        for (const name of fieldNames) if (columns.has(name)) about.judged.saw(name)
      } else batching.take(record.line, record.raw, () => rowOf(known, record))
      if (batching.isFull) yield
    }
  }
  if (columns === undefined) throw new FeedUnreadable("The feed is empty.")
}

/**
 * Reads product feeds for Google: RSS, Atom and other XML with Google's fields, TSV and CSV. The format is detected
 * from the first character, not from the file name. An item that cannot be used becomes a reject and does not affect
 * the others. Positions count the items in XML, and the lines of the file in a table.
 */
import { type BatchBuilder, collectBatches, type ParsedRow } from "../batch-builder.ts"
import { readTable, type TableFormat } from "../csv/table.ts"
import { type ReadFile, UnusableRow } from "../feed.ts"
import { decodePieces, undecodable } from "../payload-text.ts"
import { FeedStats } from "../typed-fields.ts"
import { type FieldName, fieldNames, readFields } from "./fields.ts"
import { type SplitItem, splitItems } from "./items.ts"
import { type FeedItem, readItem } from "./rows.ts"

type FeedContext = Pick<FeedItem, "currency" | "stats">
type ItemContext = Omit<FeedItem, "fields">

const readXmlItem = (item: SplitItem, prefixes: ReadonlySet<string>, context: ItemContext): ParsedRow => {
  if (item.problem !== null) throw new UnusableRow(item.problem)
  if (item.text.includes(undecodable)) throw new UnusableRow("it has bytes that are not text in the feed's encoding")
  const { fields, isWellFormed } = readFields(item.text, prefixes, context.stats)
  const row = readItem({ ...context, fields })
  if (isWellFormed || row.variants.some(({ price }) => price !== null)) return row
  context.identify(undefined) // the tags may hide the id of its group
  throw new UnusableRow("it has no price, and its tags are not well-formed: something in it is not escaped")
}

async function* readXml(builder: BatchBuilder, pieces: AsyncIterable<string>, context: FeedContext) {
  const prefixes = new Set(["g"])
  for await (const items of splitItems(pieces, prefixes)) {
    for (const item of items) {
      builder.addRow(item.number, item.text, (identify) =>
        readXmlItem(item, prefixes, { ...context, identify, position: item.number })
      )
      if (builder.isFull) yield
    }
  }
}

const tableFormat: TableFormat<FieldName> = {
  kind: "product feed for Google",
  columns: fieldNames,
  aliases: (name) => [name],
  /** `Image Link`, `image-link` and `g:image_link` are the same name. */
  normalizeName: (name) =>
    name
      .trim()
      .toLowerCase()
      .replace(/^g:/, "")
      .replace(/[\s-]+/g, "_"),
  required: ["id", "title", "price"]
}

/** One cell may list several pictures. Addresses may contain commas too. */
const splitCell = (name: FieldName, cell: string) =>
  name === "additional_image_link" ? cell.split(/,\s*(?=https?:)/i) : [cell]

const readItemTable = (builder: BatchBuilder, pieces: AsyncIterable<string>, context: FeedContext) =>
  readTable(builder, pieces, tableFormat, context.stats, (record, columns, identify) => {
    const fields = (name: FieldName) => splitCell(name, columns.cell(record, name)).filter((cell) => cell.trim() !== "")
    return readItem({ ...context, identify, fields, position: record.line })
  })

async function* prepend(first: string, others: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield first
    yield* others
  } finally {
    await others.return(undefined)
  }
}

async function* readPieces(builder: BatchBuilder, pieces: AsyncGenerator<string>, context: FeedContext) {
  let piece = await pieces.next()
  while (piece.done !== true && piece.value.trim() === "") piece = await pieces.next()
  const first = piece.done === true ? "" : piece.value
  const read = first.trimStart().startsWith("<") ? readXml : readItemTable
  yield* read(builder, prepend(first, pieces), context)
}

export const readGoogleMerchant: ReadFile = (open, { currency, stats = new FeedStats(), ...stated }) =>
  collectBatches(stats, (builder) => readPieces(builder, decodePieces(open, stated), { currency, stats }))

/**
 * Reads product feeds for Google: RSS, Atom and other XML with Google's fields, TSV and CSV. The format is detected
 * from the first character, not from the file name. An item that cannot be used becomes a reject and does not affect
 * the others. Positions count the items in XML, and the lines of the file in a table.
 */
import { type BatchBuilder, collectBatches, type ParsedRow } from "../batch-builder.ts"
import { readTable, readTablePrices, type TableFormat } from "../csv/table.ts"
import type { ReadFile } from "../feed.ts"
import { UnusableRow } from "../feed-errors.ts"
import { FeedStats } from "../feed-stats.ts"
import { FilePrices } from "../money/file-prices.ts"
import { decodePieces, undecodable } from "../payload-text.ts"
import { type FieldName, fieldNames } from "./field-names.ts"
import { readFields } from "./fields.ts"
import type { FeedItem } from "./item.ts"
import { type SplitItem, splitItems } from "./items.ts"
import { readItem } from "./rows.ts"

type FeedContext = Pick<FeedItem, "currency" | "read_at" | "stats">
type ItemContext = Omit<FeedItem, "fields">

const priceFields = ["price", "sale_price"] as const

const readXmlItem = (item: SplitItem, prefixes: ReadonlySet<string>, context: ItemContext): ParsedRow => {
  if (item.problem !== null) throw new UnusableRow(item.problem)
  if (item.text.includes(undecodable)) throw new UnusableRow("it has bytes that are not text in the feed's encoding")
  const { fields, isWellFormed } = readFields(item.text, prefixes, context.stats)
  const row = readItem({ ...context, fields })
  if (isWellFormed || row.variants.some(({ price }) => price !== null)) return row
  context.identify(undefined) // the tags may hide the id of its group
  throw new UnusableRow("it has no price, and its tags are not well-formed: something in it is not escaped")
}

async function* readXmlPrices(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  const prefixes = new Set(["g"])
  const unused = new FeedStats()
  for await (const items of splitItems(pieces, prefixes)) {
    for (const { problem, text } of items) {
      if (problem === null) yield* readItemPrices(text, prefixes, unused)
    }
  }
}

/** None of an item that cannot be read. */
const readItemPrices = (item: string, prefixes: ReadonlySet<string>, stats: FeedStats): ReadonlyArray<string> => {
  try {
    const { fields } = readFields(item, prefixes, stats)
    return priceFields.flatMap((name) => fields(name).map((price) => price.trim()))
  } catch (cause) {
    if (!(cause instanceof UnusableRow)) throw cause
    return []
  }
}

async function* readXml(
  builder: BatchBuilder,
  open: () => AsyncIterable<string>,
  pieces: AsyncIterable<string>,
  context: FeedContext
) {
  const prefixes = new Set(["g"])
  const prices = new FilePrices(() => readXmlPrices(open()))
  for await (const items of splitItems(pieces, prefixes)) {
    for (const item of items) {
      await prices.addRow(() =>
        builder.addRow(item.number, item.text, (identify) =>
          readXmlItem(item, prefixes, { ...context, prices, identify, position: item.number })
        )
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

const readItemTable = (
  builder: BatchBuilder,
  open: () => AsyncIterable<string>,
  pieces: AsyncIterable<string>,
  context: FeedContext
) => {
  const prices = readTablePrices(open, tableFormat, priceFields)
  return readTable(builder, pieces, tableFormat, { ...context, prices }, (record, columns, identify) => {
    const fields = (name: FieldName) => [columns.cell(record, name)].filter((cell) => cell.trim() !== "")
    return readItem({ ...context, prices, identify, fields, position: record.line })
  })
}

async function* prepend(first: string, others: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield first
    yield* others
  } finally {
    await others.return(undefined)
  }
}

async function* readPieces(builder: BatchBuilder, open: () => AsyncGenerator<string>, context: FeedContext) {
  const pieces = open()
  let piece = await pieces.next()
  while (piece.done !== true && piece.value.trim() === "") piece = await pieces.next()
  const first = piece.done === true ? "" : piece.value
  const read = first.trimStart().startsWith("<") ? readXml : readItemTable
  yield* read(builder, open, prepend(first, pieces), context)
}

export const readGoogleMerchant: ReadFile = (
  open,
  { currency, read_at = Date.now(), stats = new FeedStats(), ...stated }
) =>
  collectBatches(stats, (builder) =>
    readPieces(builder, () => decodePieces(open, stated), { currency, read_at, stats })
  )

/** The header of a CSV file, and the file as a DuckDB relation in which nothing is auto-detected. */
import { literal } from "@larder/warehouse"
import { Effect, Schema } from "effect"
import { readStart } from "../../source/zip.ts"
import { printableName } from "../../source/zip-members.ts"
import { isUtf16, utf16Problem } from "../utf16.ts"
import { type CsvMember, members } from "./members.ts"

export class HeaderUnreadable extends Schema.TaggedError<HeaderUnreadable>()("HeaderUnreadable", {
  file: Schema.String,
  /** Null if the problem concerns the whole file. */
  line: Schema.NullOr(Schema.Int),
  problem: Schema.String
}) {
  override get message() {
    return `${this.file}${this.line === null ? "" : ` line ${this.line}`}: ${this.problem}`
  }
}

export const fileUnreadable = (file: string) => (cause: unknown) =>
  new HeaderUnreadable({ file, line: null, problem: `it cannot be read: ${String(cause)}` })

/** The longest header so far has 420 bytes. */
const maxHeaderBytes = 65_536

/** Undefined if the line does not end within `maxHeaderBytes`. */
const readFirstLine = (start: Buffer) => {
  if (start.length === maxHeaderBytes && !start.includes("\n")) return undefined
  const text = start.toString("utf8")
  return text.slice(0, text.search(/\r?\n|$/)).replace(/^\uFEFF/, "")
}

/** Column names contain no commas or line breaks, and no quotes but the two around them. */
const splitNames = (line: string) => line.split(",").map((name) => name.trim().replace(/^" *(.*?) *"$/, "$1"))

/**
 * A name for each column without one, such as the index that pandas writes first, or what follows a comma at the end of
 * each line. DuckDB accepts no empty name, and no name twice.
 */
const nameAll = (names: ReadonlyArray<string>) => {
  const unnamed = names.flatMap((name, index) => (name === "" ? [index + 1] : []))
  return { columns: names.map((name, index) => (name === "" ? `column ${index + 1} without a name` : name)), unnamed }
}

export interface Header<Name extends CsvMember = CsvMember> {
  readonly member: Name
  readonly path: string
  readonly columns: ReadonlyArray<string>
  /** Whether the last column has no name, and so is not read: then a complete record may end with a comma. */
  readonly isLastUnnamed: boolean
  /** Whether all names are in quotes, and so the texts below them. */
  readonly isQuoted: boolean
  /** Read an unquoted `NA` or `NULL` as nothing, in every column. Then an empty quoted field is an empty string. */
  readonly hasBareNulls?: true
  /** Columns that the mapping does not read, escaped for display. */
  readonly unknown: ReadonlyArray<string>
}

export const readHeader = Effect.fnUntraced(function* <Name extends CsvMember>(member: Name, path: string) {
  const file = `${member}.csv`
  const start = yield* Effect.tryPromise({
    try: () => readStart(path, maxHeaderBytes),
    catch: fileUnreadable(file)
  })
  const unreadable = (problem: string, line: number | null = 1) => new HeaderUnreadable({ file, line, problem })
  if (isUtf16(start)) return yield* unreadable(utf16Problem, null)
  const line = readFirstLine(start)
  if (line === undefined) {
    return yield* unreadable(
      `the header does not end within ${maxHeaderBytes} bytes, so this is not a CSV file of a release`
    )
  }
  const { columns, unnamed } = nameAll(splitNames(line))
  const { ignoredColumns, neededColumns, otherColumns, usualColumns } = members[member]
  const missing = neededColumns.filter((name) => !columns.includes(name))
  if (line.trim() === "") return yield* unreadable("the file is empty: not even a header", null)
  if (missing.length > 0) {
    const names = columns.map((name) => printableName(name.slice(0, 40))).join(", ")
    return yield* unreadable(
      `the header has no column ${missing.map((name) => `"${name}"`).join(", ")}, which the mapping needs. Found: ${names.slice(0, 600)}`
    )
  }
  const lowerCaseNames = columns.map((name) => name.toLowerCase()) // as DuckDB compares them
  const duplicate = columns.find((_, index) => lowerCaseNames.indexOf(lowerCaseNames[index] ?? "") < index)
  if (duplicate !== undefined) return yield* unreadable(`there are two columns ${printableName(duplicate)}`)
  if (unnamed.length > 0) {
    yield* Effect.logWarning("columns without a name are ignored").pipe(
      Effect.annotateLogs({ file, columns: unnamed.map((column) => `column ${column} of ${columns.length}`) })
    )
  }
  const absent = usualColumns.filter((name) => !columns.includes(name))
  if (absent.length > 0) {
    yield* Effect.logWarning("columns of every earlier release are missing; their values become null").pipe(
      Effect.annotateLogs({ file, columns: absent })
    )
  }
  const known = new Set<string>([...neededColumns, ...otherColumns, ...ignoredColumns])
  const header: Header<Name> = {
    member,
    path,
    columns,
    isLastUnnamed: unnamed.includes(columns.length),
    isQuoted: /^,*"[^"]*"(,("[^"]*")?)*$/.test(line.trim()),
    unknown: columns.filter((name, index) => !known.has(name) && !unnamed.includes(index + 1)).map(printableName)
  }
  return header
})

/** Rows of all releases are far shorter. A longer row is rejected unread. */
export const maxRowBytes = 2_000_000

/**
 * The file as a relation. Columns without a type in `typeOf` are strings. Every option is set, because with
 * auto-detection, one bad line makes DuckDB read a file as if it had no quotes. The first line that does not parse
 * fails the query.
 */
export const csvRelation = (
  { columns, hasBareNulls, path }: Header,
  typeOf: ReadonlyMap<string, string> = new Map()
) => {
  const types = columns.map((name) => `${literal(name)}: ${literal(typeOf.get(name) ?? "varchar")}`).join(", ")
  const nulls = hasBareNulls ? ", nullstr = ['', 'NA', 'NULL'], allow_quoted_nulls = false" : ""
  return `read_csv(${literal(path)}, auto_detect = false, hive_partitioning = false, header = true, delim = ',', quote = '"', escape = '"',
    strict_mode = true, null_padding = false, max_line_size = ${maxRowBytes + 64}, columns = {${types}}${nulls})`
}

/**
 * Tables of Larder that people extend: tab-separated, with a header. They are read when a pipeline runs, so that a bad
 * line does not stop other pipelines, and is reported with its location.
 */
import { Effect, Result, Schema } from "effect"
import { expectErrors } from "./causes.ts"

export class BadLine extends Schema.TaggedError<BadLine>()("BadLine", {
  /** As people know it: a bundled file relative to the folder of the project. */
  file: Schema.String,
  /** The header is line 1. Null if the whole file is unusable. */
  line: Schema.NullOr(Schema.Int),
  /** Null if the whole line is invalid. */
  column: Schema.NullOr(Schema.String),
  problem: Schema.String
}) {
  /** Where it is, and what is wrong there. */
  get fault() {
    const line = this.line === null ? "" : `, line ${this.line}`
    const column = this.column === null ? "" : `, column ${this.column}`
    return `${this.file}${line}${column}: ${this.problem}${/[.?]$/.test(this.problem) ? "" : "."}`
  }
  override get message() {
    return `${this.fault} Correct the line, and run again.`
  }
}

export interface Located<A> {
  readonly row: A
  readonly file: string
  readonly line: number
}
type Cells = Readonly<Record<string, string>>

export const faultAt = ({ file, line }: Pick<Located<unknown>, "file" | "line">, column: string, problem: string) =>
  new BadLine({ file, line, column, problem })

/** The cells of each line below the header, without blank lines. A column that is not `required` may be missing. */
export const readCells = (
  file: string,
  text: string,
  known: ReadonlyArray<string>,
  required: ReadonlyArray<string> = known
): { readonly rows: ReadonlyArray<Located<Cells>>; readonly faults: ReadonlyArray<BadLine> } => {
  const [header = "", ...lines] = text.replace(/^\uFEFF/, "").split(/\r?\n/)
  const columns = header.split("\t")
  const badLine = (line: number, problem: string) => new BadLine({ file, line, column: null, problem })
  const problems = [
    ...required.filter((column) => !columns.includes(column)).map((column) => `there is no column ${column}`),
    ...columns
      .filter((column) => !known.includes(column))
      .map((column) => `the column ${JSON.stringify(column)} is unknown`),
    ...columns
      .filter((column, index) => known.includes(column) && columns.indexOf(column) !== index)
      .map((column) => `there are two columns ${column}`)
  ]
  if (problems.length > 0) return { rows: [], faults: problems.map((problem) => badLine(1, problem)) }
  const faults: Array<BadLine> = []
  const rows = lines.flatMap((content, index) => {
    const line = index + 2
    if (content.trim() === "") return []
    const cells = content.split("\t")
    if (cells.length !== columns.length) {
      faults.push(badLine(line, `it has ${cells.length} cells, but there are ${columns.length} columns`))
      return []
    }
    return [{ file, line, row: Object.fromEntries(columns.map((column, at) => [column, cells[at] ?? ""])) }]
  })
  return { rows, faults }
}

/** Decodes lines of cells. A line with a fault has no row. */
export const decodeCells = <const Fields extends Schema.Struct.Fields>(
  lines: ReadonlyArray<Located<Cells>>,
  struct: Schema.Struct<Fields>
) => {
  const fields: Readonly<Record<string, Schema.Constraint>> = struct.fields
  const decoders = Object.entries(fields).map(
    ([column, field]) => [column, Schema.decodeUnknownResult(field as Schema.ConstraintDecoder<unknown>)] as const // cells need no services
  )
  const faults: Array<BadLine> = []
  const rows = lines.flatMap(({ row: cells, ...at }): ReadonlyArray<Located<Schema.Struct<Fields>["Type"]>> => {
    const row: Record<string, unknown> = {}
    const before = faults.length
    for (const [column, decode] of decoders) {
      const decoded = decode(cells[column] ?? "")
      if (Result.isSuccess(decoded)) row[column] = decoded.success
      else faults.push(faultAt(at, column, decoded.failure.message.replace(/\s*\n\s*/g, " ").replace(/\.$/, "")))
    }
    return faults.length > before ? [] : [{ ...at, row: row as Schema.Struct<Fields>["Type"] }] // each column has been decoded
  })
  return { rows, faults }
}

/** A fault for each line that repeats a value of the column in an earlier line. */
export const findRepeated = <A>(lines: ReadonlyArray<Located<A>>, column: keyof A & string) => {
  const firstLines = new Map<unknown, number>()
  return lines.flatMap(({ row, ...at }) => {
    const value = row[column]
    const firstLine = firstLines.get(value)
    if (firstLine === undefined) firstLines.set(value, at.line)
    return firstLine === undefined ? [] : [faultAt(at, column, `${value} is already in line ${firstLine}`)]
  })
}

/** The rows of a table with the columns of `struct`, and all faults. A `unique` column contains no value twice. */
export const readTable = <const Fields extends Schema.Struct.Fields>(
  file: string,
  text: string,
  struct: Schema.Struct<Fields>,
  ...unique: ReadonlyArray<keyof Schema.Struct<Fields>["Type"] & string>
) => {
  const read = readCells(file, text, Object.keys(struct.fields))
  const { faults, rows } = decodeCells(read.rows, struct)
  const repeated = unique.flatMap((column) => findRepeated(rows, column))
  return { rows, faults: [...read.faults, ...faults, ...repeated] }
}

/** Returns the rows of a table. Throws `BadLine` for its first fault. */
export const parseTable = <const Fields extends Schema.Struct.Fields>(
  ...table: Parameters<typeof readTable<Fields>>
): ReadonlyArray<Located<Schema.Struct<Fields>["Type"]>> => {
  const { faults, rows } = readTable(...table)
  const [first] = faults.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
  if (first !== undefined) throw first
  return rows
}

/** Calls a reader of hand-edited tables. Any error other than `BadLine` is a bug. */
export const readHandEdited = <A>(read: () => A): Effect.Effect<A, BadLine> =>
  Effect.try({ try: read, catch: expectErrors(BadLine) })

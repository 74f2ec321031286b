/**
 * Tables of Larder that people extend: tab-separated, with a header. They are read when a pipeline runs, so that a bad
 * line does not stop other pipelines, and is reported as one error with its location.
 */
import { Effect, Result, Schema } from "effect"
import { expectErrors } from "./causes.ts"

export class BadLine extends Schema.TaggedError<BadLine>()("BadLine", {
  /** Relative to the folder of the project. */
  file: Schema.String,
  /** The header is line 1. */
  line: Schema.Int,
  /** Null if the whole line is invalid. */
  column: Schema.NullOr(Schema.String),
  problem: Schema.String
}) {
  override get message() {
    const column = this.column === null ? "" : `, column ${this.column}`
    return `${this.file}, line ${this.line}${column}: ${this.problem}. Correct the line, and run again.`
  }
}

export interface Located<A> {
  readonly row: A
  readonly line: number
}

/**
 * Returns the rows below the header, without blank lines. Throws `BadLine` for the first invalid line, or if a `unique`
 * column contains a value twice.
 */
export const parseTable = <const Fields extends Schema.Struct.Fields>(
  file: string,
  text: string,
  struct: Schema.Struct<Fields>,
  ...unique: ReadonlyArray<keyof Fields & string>
): ReadonlyArray<Located<Schema.Struct<Fields>["Type"]>> => {
  const fields: Readonly<Record<string, Schema.Constraint>> = struct.fields
  const decoders = Object.entries(fields).map(
    ([column, field]) => [column, Schema.decodeUnknownResult(field as Schema.ConstraintDecoder<unknown>)] as const // cells need no services
  )
  const [header = "", ...lines] = text.replace(/^\uFEFF/, "").split(/\r?\n/)
  const columns = header.split("\t")
  const badLine = (line: number, problem: string, column: string | null = null) =>
    new BadLine({ file, line, column, problem: problem.replace(/\s*\n\s*/g, " ").replace(/\.$/, "") })
  const missing = Object.keys(fields).find((column) => !columns.includes(column))
  if (missing !== undefined) throw badLine(1, `there is no column ${missing}`)
  const unknown = columns.find((column) => !(column in fields))
  if (unknown !== undefined) throw badLine(1, `the column ${JSON.stringify(unknown)} is unknown`)
  const firstLines = new Map<string, number>()
  return lines.flatMap((content, index) => {
    const line = index + 2
    if (content.trim() === "") return []
    const cells = content.split("\t")
    if (cells.length !== columns.length) {
      throw badLine(line, `it has ${cells.length} cells, but there are ${columns.length} columns`)
    }
    const row: Record<string, unknown> = {}
    for (const [column, decode] of decoders) {
      const decoded = decode(cells[columns.indexOf(column)])
      if (Result.isFailure(decoded)) throw badLine(line, decoded.failure.message, column)
      row[column] = decoded.success
    }
    for (const column of unique) {
      const firstLine = firstLines.get(`${column} ${row[column]}`)
      if (firstLine !== undefined) throw badLine(line, `${row[column]} is already in line ${firstLine}`, column)
      firstLines.set(`${column} ${row[column]}`, line)
    }
    return [{ row: row as Schema.Struct<Fields>["Type"], line }] // each column has been decoded
  })
}

/** Calls a reader of hand-edited tables. Any error other than `BadLine` is a bug. */
export const readHandEdited = <A>(read: () => A): Effect.Effect<A, BadLine> =>
  Effect.try({ try: read, catch: expectErrors(BadLine) })

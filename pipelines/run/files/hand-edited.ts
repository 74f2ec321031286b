/**
 * Tables of Larder that people extend: tab-separated, with a header. They are read when a pipeline runs, so that a bad
 * line does not stop other pipelines, and is reported as one error with its place.
 */
import { Effect, Result, Schema } from "effect"

/** A line that a person wrote is invalid. */
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

const oneLine = (text: string) => text.replace(/\s*\n\s*/g, " ").replace(/\.$/, "")

/** A row and its line number. */
export interface Located<A> {
  readonly row: A
  readonly line: number
}

/** The rows below the header, without blank lines. Throws `BadLine` for the first invalid line. */
export const linesOf = <const Fields extends Schema.Struct.Fields>(
  file: string,
  text: string,
  struct: Schema.Struct<Fields>
): ReadonlyArray<Located<Schema.Struct<Fields>["Type"]>> => {
  const wanted: Readonly<Record<string, Schema.Constraint>> = struct.fields
  const decoders = Object.entries(wanted).map(
    ([column, field]) => [column, Schema.decodeUnknownResult(field as Schema.ConstraintDecoder<unknown>)] as const // cells need no services
  )
  const [header = "", ...lines] = text.replace(/^\uFEFF/, "").split(/\r?\n/)
  const columns = header.split("\t")
  const wrong = (line: number, problem: string, column: string | null = null) =>
    new BadLine({ file, line, column, problem: oneLine(problem) })
  const absent = Object.keys(wanted).find((column) => !columns.includes(column))
  if (absent !== undefined) throw wrong(1, `there is no column ${absent}`)
  const unknown = columns.find((column) => !(column in wanted))
  if (unknown !== undefined) throw wrong(1, `nothing reads the column ${JSON.stringify(unknown)}`)
  return lines.flatMap((content, index) => {
    const line = index + 2
    if (content.trim() === "") return []
    const cells = content.split("\t")
    if (cells.length !== columns.length) {
      throw wrong(line, `it has ${cells.length} cells, where there are ${columns.length} columns`)
    }
    const row: Record<string, unknown> = {}
    for (const [column, decode] of decoders) {
      const decoded = decode(cells[columns.indexOf(column)])
      if (Result.isFailure(decoded)) throw wrong(line, decoded.failure.message, column)
      row[column] = decoded.success
    }
    return [{ row: row as Schema.Struct<Fields>["Type"], line }] // each column has been decoded
  })
}

/** Throws `BadLine` if a column contains a value twice. */
export const assertUnique = <Row>(file: string, lines: ReadonlyArray<Located<Row>>, column: keyof Row & string) => {
  const seen = new Map<unknown, number>()
  for (const { line, row } of lines) {
    const before = seen.get(row[column])
    if (before !== undefined) {
      throw new BadLine({ file, line, column, problem: `${row[column]} is already in line ${before}` })
    }
    seen.set(row[column], line)
  }
}

/** Reads a table that people have edited. Any other error is a bug. */
export const reading = <A>(read: () => A): Effect.Effect<A, BadLine> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read())
    } catch (cause) {
      return cause instanceof BadLine ? Effect.fail(cause) : Effect.die(cause)
    }
  })

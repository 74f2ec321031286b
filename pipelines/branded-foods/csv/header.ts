/** The header of a CSV file, and how DuckDB is told to read the rest: every column as text, nothing guessed. */
import { open } from "node:fs/promises"
import { identifier, literal } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema } from "effect"
import { shown } from "../release/zip-members.ts"
import { type MemberName, members } from "./members.ts"

export class HeaderUnreadable extends Schema.TaggedError<HeaderUnreadable>()("HeaderUnreadable", {
  file: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `${this.file} line 1: ${this.problem}`
  }
}

/** The longest header so far has 420 bytes. */
const mostBytes = 65_536

/** Undefined where the line does not end within so many bytes. */
const firstLine = async (path: string) => {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(mostBytes), position: 0 })
    if (bytesRead === mostBytes && !buffer.includes("\n")) return undefined
    const text = buffer.toString("utf8", 0, bytesRead)
    return text.slice(0, text.search(/\r?\n|$/)).replace(/^\uFEFF/, "")
  } finally {
    await file.close()
  }
}

/** Names of columns hold no commas, quotes or line breaks. */
const namesIn = (line: string) => line.split(",").map((name) => name.trim().replace(/^"(.*)"$/, "$1"))

export interface Header<Name extends MemberName = MemberName> {
  readonly member: Name
  readonly path: string
  /** All columns of the file, in its order. */
  readonly columns: ReadonlyArray<string>
  /** Columns that nobody knows, as they are told of. */
  readonly unknown: ReadonlyArray<string>
}

/** Reads the header and holds it against the columns that the mapping needs. */
export const readHeader = Effect.fnUntraced(function* <Name extends MemberName>(member: Name, path: string) {
  const file = `${member}.csv`
  const line = yield* Effect.tryPromise({
    try: () => firstLine(path),
    catch: (cause) => new HeaderUnreadable({ file, problem: `it cannot be read: ${String(cause)}` })
  })
  if (line === undefined) {
    const problem = `the header does not end within ${mostBytes} bytes, so this is no CSV file of a release`
    return yield* new HeaderUnreadable({ file, problem })
  }
  const columns = namesIn(line)
  const { leftOut, neededColumns, otherColumns } = members[member]
  const missing = neededColumns.filter((name) => !columns.includes(name))
  if (line.trim() === "") return yield* new HeaderUnreadable({ file, problem: "the file is empty: not even a header" })
  if (missing.length > 0) {
    const found = columns.map((name) => shown(name.slice(0, 40))).join(", ")
    const problem = `the header has no column ${missing.join(", ")}, which the mapping needs. Found: ${found.slice(0, 600)}`
    return yield* new HeaderUnreadable({ file, problem })
  }
  const inLowerCase = columns.map((name) => name.toLowerCase()) // as DuckDB compares them
  const twice = columns.find((_, position) => inLowerCase.indexOf(inLowerCase[position] ?? "") < position)
  if (twice !== undefined)
    return yield* new HeaderUnreadable({ file, problem: `the column ${shown(twice)} stands twice` })
  const known = new Set<string>([...neededColumns, ...otherColumns, ...leftOut])
  return {
    member,
    path,
    columns,
    unknown: columns.filter((name) => !known.has(name)).map(shown)
  } satisfies Header<Name> as Header<Name>
})

/** A row of any release is far shorter; a longer one is rejected, not held. */
export const mostBytesOfRow = 2_000_000

/**
 * The file as a relation, of texts unless `typeOf` says otherwise. DuckDB's own guessing takes one bad line as proof that a file
 * has no quotes, so everything is said. The first line that does not parse fails the query.
 */
export const relationOf = ({ columns, path }: Header, typeOf: ReadonlyMap<string, string> = new Map()) => {
  const types = columns.map((name) => `${literal(name)}: ${literal(typeOf.get(name) ?? "varchar")}`).join(", ")
  return `read_csv(${literal(path)}, auto_detect = false, header = true, delim = ',', quote = '"', escape = '"',
    strict_mode = true, null_padding = false, max_line_size = ${mostBytesOfRow + 64}, columns = {${types}})`
}

/** A column that older layouts lack reads as null, which is "not stated". */
export const columnOf =
  ({ columns }: Header) =>
  (name: string) =>
    columns.includes(name) ? identifier(name) : "null::varchar"

import { Schema, SchemaAST } from "effect"
import { Day, Timestamp } from "./dates.ts"

const makeAnnotations = <A>(description: string, examples: ReadonlyArray<A>) =>
  examples.length === 0 ? { description } : { description, examples }

/** Fields of records and tables with a description, which the OpenAPI document and the table comments show. */
export const described = {
  text: (description: string, ...examples: ReadonlyArray<string>) =>
    Schema.String.annotate(makeAnnotations(description, examples)),
  textOrNull: (description: string, ...examples: ReadonlyArray<string>) =>
    Schema.NullOr(Schema.String).annotate(makeAnnotations(description, examples)),
  integer: (description: string, ...examples: ReadonlyArray<number>) =>
    Schema.Int.annotate(makeAnnotations(description, examples)),
  integerOrNull: (description: string) => Schema.NullOr(Schema.Int).annotate({ description }),
  number: (description: string) => Schema.Finite.annotate({ description }),
  numberOrNull: (description: string) => Schema.NullOr(Schema.Finite).annotate({ description }),
  flag: (description: string) => Schema.Boolean.annotate({ description }),
  flagOrNull: (description: string) => Schema.NullOr(Schema.Boolean).annotate({ description }),
  day: (description: string) => Day.annotate({ description }),
  dayOrNull: (description: string) => Schema.NullOr(Day).annotate({ description }),
  timeOrNull: (description: string) => Schema.NullOr(Timestamp).annotate({ description }),
  list: (description: string) => Schema.Array(Schema.Unknown).annotate({ description }),
  oneOf: <const Names extends ReadonlyArray<string>>(names: Names, description: string) =>
    Schema.Literals(names).annotate({ description })
}

/** A column whose values, except null, occur in another column, `schema.table.column`. Its comment says so. */
export const refersTo = <S extends Schema.Top>(references: string, column: S): S["Rebuild"] =>
  column.annotate({ references })

/** A column of numbers in this unit, which its description states, too. */
export const inUnit = <S extends Schema.Top>(unit: string, column: S): S["Rebuild"] => column.annotate({ unit })

/** A column with what Larder does to the value that the source states, in sentences: its comment ends with them. */
export const transformed = <S extends Schema.Top>(transformation: string, column: S): S["Rebuild"] =>
  column.annotate({ transformation })

/** Names in the form of comments: `` `a`, `b` and `c` ``, or the same with `or`. */
export const listCodes = (names: ReadonlyArray<string>, type: "conjunction" | "disjunction" = "conjunction"): string =>
  new Intl.ListFormat("en-GB", { type }).format(names.map((name) => `\`${name}\``))

/** The hash of a payload. It refers to no column, because no table has one row per payload. */
export const payload = (which: string) =>
  described.text(
    `${which}: its SHA-256, which is its name in the raw archive. \`ingest.live_raw_file\` has one row for each address and feed that it came from, and \`ingest.raw_file\` those of every run: a join can return several rows.`
  )

/** What the three functions above state about a column, and else undefined. */
export const annotationOf = (
  name: "references" | "unit" | "transformation",
  column: Schema.Constraint
): string | undefined => {
  const value = Schema.resolveAnnotations(column)?.[name]
  return typeof value === "string" ? value : undefined
}

/** The names that a column of codes can have; none for any other column. */
export const codesOf = (column: Schema.Constraint): ReadonlyArray<string> => {
  const listNames = (ast: SchemaAST.AST): ReadonlyArray<string> => {
    if (SchemaAST.isUnion(ast)) return ast.types.flatMap(listNames)
    return SchemaAST.isLiteral(ast) ? [String(ast.literal)] : []
  }
  return listNames(column.ast)
}

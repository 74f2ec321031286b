import { Schema } from "effect"
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

/** A column whose values, except null, occur in another column. Its description says so. */
export const refersTo = <S extends Schema.Top>(target: string, column: S): S["Rebuild"] => {
  const description = Schema.resolveAnnotations(column)?.description ?? ""
  return column.annotate({ description: `${description} Refers to \`${target}\`.`, references: target })
}

/** The hash of a payload. It refers to no column, because no table has one row per payload. */
export const payload = (which: string) =>
  described.text(
    `${which}: its SHA-256, which is its name in the raw archive. \`ingest.live_raw_file\` has one row for each address and feed that it came from, and \`ingest.raw_file\` those of every run: a join can return several rows.`
  )

/** The column to which a column refers, as `schema.table.column`; undefined if it refers to none. */
export const referenceOf = (column: Schema.Constraint): string | undefined => {
  const references = Schema.resolveAnnotations(column)?.references
  return typeof references === "string" ? references : undefined
}

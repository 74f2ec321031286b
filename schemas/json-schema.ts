/**
 * Effect schemas as JSON Schema (draft 2020-12, the dialect of OpenAPI 3.1). Two facts that
 * clients do not need are omitted: that an object is open, and that an integer fits into a double.
 */
import { JsonSchema, Schema, SchemaRepresentation } from "effect"

type Document = JsonSchema.JsonSchema

const isMeaningful = (key: string, value: unknown) =>
  !(
    (key === "additionalProperties" && value === true) ||
    (key === "minimum" && value === Number.MIN_SAFE_INTEGER) ||
    (key === "maximum" && value === Number.MAX_SAFE_INTEGER)
  )

const removeNoise = <A>(json: A): A =>
  JSON.parse(JSON.stringify(json), (key, value) => (isMeaningful(key, value) ? value : undefined))

/** One schema without named parts, such as a parameter's. */
export const jsonSchema = (schema: Schema.Constraint): Document =>
  removeNoise(Schema.toJsonSchemaDocument(schema).schema)

/** Schemas that share their named parts; references point to `#/components/schemas/<identifier>`. */
export const componentSchemas = (
  schemas: readonly [Schema.Constraint, ...Array<Schema.Constraint>]
): { readonly schemas: ReadonlyArray<Document>; readonly components: Readonly<Record<string, Document>> } => {
  const [first, ...rest] = schemas
  const representations = SchemaRepresentation.toRepresentations([toEncodedAst(first), ...rest.map(toEncodedAst)])
  const { schemas: roots, definitions } = JsonSchema.toMultiDocumentOpenApi3_1(
    SchemaRepresentation.toJsonSchemaMultiDocument(representations)
  )
  return removeNoise({ schemas: roots, components: definitions })
}

const toEncodedAst = (schema: Schema.Constraint) => Schema.toCodecJson(schema).ast

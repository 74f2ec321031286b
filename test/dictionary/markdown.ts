/**
 * The dictionary as Markdown: docs/dictionary.md. The server shows the same page without the diagrams, so its links lead
 * only to headings of the page.
 */
import { dataSets } from "@larder/warehouse"
import { Effect } from "effect"
import { type Column, type Definitions, type Macro, type Relation, readDefinitions } from "./definitions.ts"
import { renderDiagram } from "./diagram.ts"

const code = (text: string) => `\`${text}\``
const count = (rows: number) => (rows === 1 ? "1 row" : `${rows.toLocaleString("en-US")} rows`)
/** The first sentence, up to its second colon. */
const summarise = (text: string) => {
  const [sentence = ""] = text.split(/\.(?= |$)/)
  return `${sentence.split(": ").slice(0, 2).join(": ")}.`
}

type Entry = Relation | Macro
const nameOf = ({ name, schema }: Entry) => `${schema}.${name}`
const titleOf = (entry: Entry) => ("key" in entry ? nameOf(entry) : `${nameOf(entry)}(${entry.parameters.join(", ")})`)
/** As GitHub and the server make it of the heading. */
const anchorOf = (title: string) => title.replaceAll(/[^\w ]/g, "").replaceAll(" ", "-")

const ingest = {
  title: "Runs",
  description: "The records of all runs, of what they read, and of what they left out. All data sets share them.",
  pipeline: "ingestion"
}
const schemas = [...dataSets.map(({ about, schema }) => ({ schema, ...about })), { schema: "ingest", ...ingest }]

/** A list of structs is long: its fields follow the meaning. */
const describeType = ({ meaning, type }: Column) => {
  const [, fields] = /^STRUCT\((.*)\)\[\]$/.exec(type) ?? []
  return fields === undefined
    ? { type: code(type), meaning }
    : { type: code("STRUCT[]"), meaning: `${meaning} Fields: ${code(fields.replaceAll('"', ""))}.` }
}

const describeKey = ({ name, references }: Column, { key, keyKind }: Relation) =>
  [
    ...(key.includes(name) ? [keyKind === "unique" ? "unique key" : keyKind] : []),
    ...(references === undefined ? [] : [`refers to ${code(references)}`])
  ].join(", ")

const describeColumn = (column: Column, relation: Relation) => {
  const { meaning, type } = describeType(column)
  const facts = [column.unit ?? "", column.isNullable ? "yes" : "no", describeKey(column, relation)]
  return [code(column.name), type, ...facts, meaning, column.transformation ?? ""]
}
const headings = ["Column", "Type", "Unit", "Null", "Key", "Meaning", "Transformation"]

const renderDictionary = ({ columns, macros, references, relations }: Definitions): string => {
  const sorted = [...relations, ...macros].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const entries = new Map(sorted.map((entry) => [nameOf(entry), entry]))

  /** Links names of other tables, columns and macros to their headings. */
  const linkNames = (text: string, own: Entry) =>
    text.replaceAll(/`(\w+\.\w+)(\.\w+|\([^`]*\))?`/g, (name, subject: string) => {
      const entry = entries.get(subject)
      return entry === undefined || entry === own ? name : `[${name}](#${anchorOf(titleOf(entry))})`
    })
  const cell = (text: string, own: Entry) => linkNames(text, own).replaceAll("|", "\\|")

  const renderRelation = (relation: Relation) => {
    const facts = [
      relation.isTable ? "Table" : "View",
      ...(relation.isOnlyInCatalogue ? ["only in `larder.duckdb` and in snapshots"] : []),
      `${count(relation.rows)} in the samples`,
      `key: ${relation.key.map(code).join(", ")}`
    ]
    const rows = columns
      .filter(({ relation: name, schema }) => name === relation.name && schema === relation.schema)
      .map((column) => describeColumn(column, relation).map((text) => cell(text, relation)))
    const table = [headings, headings.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`)
    return [`${facts.join("; ")}.`, table.join("\n")]
  }

  const renderMacro = (macro: Macro) => [
    macro.returnsRows
      ? `Macro that returns rows, with the columns ${macro.returns.map(({ name, type }) => code(`${name} ${type}`)).join(", ")}.`
      : "Macro that returns a value."
  ]

  const sections = schemas.map(({ description, pipeline, schema, title }) => {
    const here = sorted.filter((entry) => entry.schema === schema)
    const listed = here.map((entry) => {
      const name = titleOf(entry)
      return `- [${code(name)}](#${anchorOf(name)}): ${linkNames(summarise(entry.description), entry)}`
    })
    return {
      contents: [`[${title}](#${anchorOf(title.toLowerCase())}), schema ${code(schema)}:`, listed.join("\n")],
      blocks: [
        `## ${title}`,
        `${description} Schema ${code(schema)}, file ${code(`${pipeline}.duckdb`)}.`,
        renderDiagram(
          relations.filter((relation) => relation.schema === schema),
          columns,
          references
        ),
        ...here.flatMap((entry) => [
          `### ${code(titleOf(entry))}`,
          linkNames(entry.description, entry),
          ...("key" in entry ? renderRelation(entry) : renderMacro(entry))
        ])
      ]
    }
  })

  return `${[
    "# Dictionary of the warehouse",
    "Every table, view and macro of the warehouse, with columns, keys and references, from its definition.",
    "Numbers of rows are those of the bundled samples. A key identifies a row: `primary key`, or `unique key` if one of its columns may be null. A transformation is what Larder does to the value that the source states, or from what it computes the value. Compare times in UTC with `now() at time zone 'UTC'`. SQL has the same texts as comments, and keys and references in [`ingest.table_constraint`](#ingesttable_constraint).",
    "## Contents",
    ...sections.flatMap(({ contents }) => contents),
    ...sections.flatMap(({ blocks }) => blocks)
  ].join("\n\n")}\n`
}

/** From a home with the bundled samples. */
export const makeDictionary = (home: string): Promise<string> =>
  Effect.runPromise(Effect.map(readDefinitions(home), renderDictionary))

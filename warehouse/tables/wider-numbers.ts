/**
 * Numbers with a digit more in views than in tables. DuckDB gives the product of two decimals of 18 digits no more digits, so
 * that it would overflow from 6,950 on; from 19 digits on it has 38. Storage of 18 digits takes half the space.
 */
import type { Table } from "./tables.ts"

/** The columns of a definition, with their types: each starts a line, indented by two spaces. */
const columnPattern = /^ {2}(\w+) (\S(?:.|\n)*?)(?: not null)?,?$(?=\n(?: {2}\w|\)))/gm

/** `a::decimal(19, 6) as a, …` for each column with decimals of 18 digits, also in lists; empty without such columns. */
export const widerNumbers = ({ ddl }: Pick<Table, "ddl">): string =>
  [...ddl.matchAll(columnPattern)]
    .flatMap(([, column = "", type = ""]) => {
      const wider = type.replaceAll(/\s+/g, " ").replaceAll(/decimal\((?:18|9), /g, "decimal(19, ")
      return wider.includes("decimal(19, ") ? [`${column}::${wider} as ${column}`] : []
    })
    .join(", ")

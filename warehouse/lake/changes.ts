/** The changes that a snapshot makes to the catalogue: SQL statements, and DuckLake's names for them. */
import { catalogue, isLive } from "./ducklake.ts"

export const keyOf = ({ name, schema }: { readonly schema: string; readonly name: string }) => `${schema}.${name}`
export const quoted = ({ name, schema }: { readonly schema: string; readonly name: string }) => `"${schema}"."${name}"`

/** Ends rows with a snapshot. Older snapshots still have them. */
export const ending = (table: string, number: number, where: string) =>
  `update ${catalogue}.ducklake_${table} set end_snapshot = ${number} where ${where} and ${isLive}`

/** The changes of a snapshot in progress, and the ids that it assigns. */
export class Changes {
  readonly statements: Array<string> = []
  /** DuckLake's names for the changes. */
  names: ReadonlyArray<string> = []
  /** Whether the snapshot changes tables, views or macros. */
  areDefinitionsOther = false
  /** The number of the snapshot. */
  readonly number: number
  nextId: number
  nextFile: number
  constructor(number: number, nextId: number, nextFile: number) {
    this.number = number
    this.nextId = nextId
    this.nextFile = nextFile
  }
  define(name: string, ...statements: ReadonlyArray<string>) {
    this.areDefinitionsOther = true
    if (!this.names.includes(name)) this.names = [...this.names, name]
    this.statements.push(...statements)
  }
}

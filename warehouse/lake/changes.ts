/** What a snapshot changes in the catalogue: statements, and what DuckLake calls them. */
import { catalogue, isLive } from "./ducklake.ts"

export const keyOf = ({ name, schema }: { readonly schema: string; readonly name: string }) => `${schema}.${name}`
export const quoted = ({ name, schema }: { readonly schema: string; readonly name: string }) => `"${schema}"."${name}"`

/** Ends rows with a snapshot: older ones still have them. */
export const ending = (table: string, number: number, where: string) =>
  `update ${catalogue}.ducklake_${table} set end_snapshot = ${number} where ${where} and ${isLive}`

/** What a snapshot that is being made changes, and the ids that it gives. */
export class Changes {
  readonly statements: Array<string> = []
  /** As DuckLake names them. */
  names: ReadonlyArray<string> = []
  /** Whether tables, views or macros are others than before. */
  areDefinitionsOther = false
  /** Of the snapshot. */
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

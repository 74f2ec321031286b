/** The promises on record, and what has to be done before they may be broken. */
import { readFileSync, writeFileSync } from "node:fs"
import type { VersionNote } from "@larder/schemas"
import type { Promises } from "./promises.ts"

const file = new URL("promised.json", import.meta.url)

export const promised = (): Promises => JSON.parse(readFileSync(file, "utf8"))

export const recordPromises = (promises: Promises): void => {
  writeFileSync(file, `${written(promises, "", 0)}\n`)
}

/** JSON as the formatter leaves it: what holds no object stands on one line where there is room. */
const written = (node: unknown, indent: string, before: number): string => {
  const isList = Array.isArray(node)
  const parts: ReadonlyArray<readonly [string, unknown]> = isList
    ? node.map((item) => ["", item])
    : Object.entries(Object(node)).map(([name, value]) => [`${JSON.stringify(name)}: `, value])
  if (typeof node !== "object" || parts.length === 0) return JSON.stringify(node)
  const [open, close, blank] = isList ? ["[", "]", ""] : ["{", "}", " "]
  const isFlat = parts.every(([, value]) => Array.isArray(value) || typeof value !== "object")
  const line = `${open}${blank}${parts.map(([name, value]) => `${name}${written(value, "", -1000)}`).join(", ")}${blank}${close}`
  if (isFlat && indent.length + before + line.length < 120) return line
  const inner = `${indent}  `
  const lines = parts.map(([name, value]) => `${inner}${name}${written(value, inner, name.length)}`)
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`
}

/** Undefined where nothing breaks, or where a note of any newer version says that something does. */
export const withoutNote = (
  breaks: ReadonlyArray<string>,
  version: string,
  notes: readonly [VersionNote, ...Array<VersionNote>]
): string | undefined => {
  const recorded = notes.findIndex((note) => note.version === version)
  const isTold = notes.slice(0, recorded === -1 ? notes.length : recorded).some(({ breaking }) => breaking)
  if (breaks.length === 0 || isTold) return undefined
  return `This breaks clients of version ${version}:
${breaks.map((what) => `- ${what}`).join("\n")}
Undo it, or write what clients have to do into a note of a new version, with \`breaking: true\`, at the head of
schemas/openapi/versions.ts, and record the new promises with \`node test/openapi/record.ts\`.`
}

export const toRecord =
  "The document promises something else than test/openapi/promised.json has on record. Nothing of it breaks a client: record it with `node test/openapi/record.ts`."

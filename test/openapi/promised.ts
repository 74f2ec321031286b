/** The recorded promises, and what is necessary before one of them may be broken. */
import { readFileSync, writeFileSync } from "node:fs"
import type { VersionNote } from "@larder/schemas/openapi/versions.ts"
import type { Promises } from "./promises.ts"

const file = new URL("promised.json", import.meta.url)

export const readPromised = (): Promises => JSON.parse(readFileSync(file, "utf8"))

export const writePromised = (promises: Promises): void => {
  writeFileSync(file, `${formatJson(promises, "", 0)}\n`)
}

/** JSON in the formatter's layout: a node without nested objects is on one line if it fits. */
const formatJson = (node: unknown, indent: string, nameLength: number): string => {
  const isList = Array.isArray(node)
  const parts: ReadonlyArray<readonly [string, unknown]> = isList
    ? node.map((item) => ["", item])
    : Object.entries(Object(node)).map(([name, value]) => [`${JSON.stringify(name)}: `, value])
  if (typeof node !== "object" || parts.length === 0) return JSON.stringify(node)
  const [open, close, blank] = isList ? ["[", "]", ""] : ["{", "}", " "]
  const isFlat = parts.every(([, value]) => Array.isArray(value) || typeof value !== "object")
  const line = `${open}${blank}${parts.map(([name, value]) => `${name}${formatJson(value, "", -1000)}`).join(", ")}${blank}${close}`
  if (isFlat && indent.length + nameLength + line.length < 120) return line
  const inner = `${indent}  `
  const lines = parts.map(([name, value]) => `${inner}${name}${formatJson(value, inner, name.length)}`)
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`
}

/** Undefined if nothing breaks, or if a note of a newer version announces a break. */
export const explainBreaks = (
  breaks: ReadonlyArray<string>,
  version: string,
  notes: readonly [VersionNote, ...Array<VersionNote>]
): string | undefined => {
  const recorded = notes.findIndex((note) => note.version === version)
  const isAnnounced = notes.slice(0, recorded === -1 ? notes.length : recorded).some(({ breaking }) => breaking)
  if (breaks.length === 0 || isAnnounced) return undefined
  return `This breaks clients of version ${version}:
${breaks.map((problem) => `- ${problem}`).join("\n")}
Undo it. Or add a note of a new version with \`breaking: true\` to the start of schemas/openapi/versions.ts that says
what clients have to do, and record the new promises with \`node test/openapi/record.ts\`.`
}

export const recordAdvice =
  "The document differs from the promises in test/openapi/promised.json, but breaks no client: record it with `node test/openapi/record.ts`."

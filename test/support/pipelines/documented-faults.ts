/** The tables below "Faults of a source" in `docs/ingesting.md`. */
import { readFileSync } from "node:fs"
import path from "node:path"
import { repository } from "../repository.ts"

interface DocumentedFault {
  readonly fault: string
  readonly published: string
  readonly kept: string
  readonly exit: string
  readonly message: string
}

/** Splits a line of a table into cells. A bar inside a cell is written as `\|`. */
const splitCells = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("\\|", "|"))

export const readDocumentedFaults = (pipeline: "commodities" | "branded foods" | "storefronts") => {
  const text = readFileSync(path.join(repository, "docs/ingesting.md"), "utf8")
  const section = text.split(`\n#### Faults of ${pipeline}\n`)[1]?.split(/\n#+ /)[0] ?? ""
  const lines = section.split("\n").filter((line) => line.startsWith("|"))
  return lines.slice(2).map((line): DocumentedFault => {
    const [fault = "", published = "", kept = "", exit = "", message = ""] = splitCells(line)
    return { fault, published, kept, exit, message }
  })
}

/** Whether a message matches the documented one, in which `…` stands for text that differs between feeds. */
export const matchesTemplate = (message: string, documented: string) => {
  let at = 0
  for (const part of documented.split("…").map((text) => text.trim())) {
    const found = message.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return true
}

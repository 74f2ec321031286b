/** The tables below "Faults of a source" in `docs/ingesting.md`: what the document says about each fault. */
import { readFileSync } from "node:fs"
import path from "node:path"
import { repository } from "../repository.ts"

export interface DocumentedFault {
  readonly fault: string
  readonly published: string
  readonly kept: string
  readonly exit: string
  readonly message: string
}

/** Cells of a line of a table. A bar inside a cell is written as `\|`. */
const cellsOf = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll("\\|", "|"))

export const documentedFaults = (pipeline: "commodities" | "branded foods" | "storefronts") => {
  const text = readFileSync(path.join(repository, "docs/ingesting.md"), "utf8")
  const section = text.split(`\n#### Faults of ${pipeline}\n`)[1]?.split(/\n#+ /)[0] ?? ""
  const lines = section.split("\n").filter((line) => line.startsWith("|"))
  return lines.slice(2).map((line): DocumentedFault => {
    const [fault = "", published = "", kept = "", exit = "", message = ""] = cellsOf(line)
    return { fault, published, kept, exit, message }
  })
}

/** Whether a message matches the documented one, in which `…` stands for what differs from feed to feed. */
export const matchesTemplate = (message: string, documented: string) => {
  let at = 0
  for (const part of documented.split("…").map((text) => text.trim())) {
    const found = message.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return true
}

/** The questions of `examples/analysis.sql`. */
import { readFileSync } from "node:fs"
import path from "node:path"
import { repository } from "./repository.ts"

const text = readFileSync(path.join(repository, "examples/analysis.sql"), "utf8")

/** SQL statements by the number of their question, in order. */
export const questions: ReadonlyMap<number, string> = new Map(
  [...text.matchAll(/^-- (\d+)\. [\s\S]*?(?=^-- \d+\. |(?![\s\S]))/gm)].map(([block, number]) => [
    Number(number),
    block.replace(/--.*$/gm, "").trim()
  ])
)

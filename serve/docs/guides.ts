/**
 * The guides, in reading order. Each is a Markdown file: its first line is the title, its first paragraph the summary.
 * The files are read once, when a guide is first requested. The dictionary is that of the repository's own docs.
 */
import { readFileSync } from "node:fs"
import { dataSets } from "@larder/schemas"

/** Path, file, and the name in the navigation. A guide's Markdown is at the same path with `.md`. */
const guideFiles: ReadonlyArray<readonly [path: string, file: string, label: string]> = [
  ["/docs", "overview", "Overview"],
  ["/docs/first-call", "first-call", "First call"],
  ["/docs/paging", "paging", "Paging"],
  ["/docs/errors", "errors", "Errors and retries"],
  ["/docs/credits", "credits", "Credits and budgets"],
  ...dataSets.map(({ pipeline, tag }) => [`/docs/${pipeline}`, pipeline, tag] as const),
  ["/docs/assistants", "assistants", "Assistants"],
  ["/docs/typescript", "typescript", "TypeScript client"],
  ["/docs/examples", "examples", "Examples"],
  ["/docs/dictionary", "../../../docs/dictionary", "Dictionary"]
]

export interface Guide {
  readonly path: string
  readonly label: string
  readonly title: string
  readonly summary: string
  /** With placeholders for the facts. */
  readonly markdown: string
}

export const guidePaths: ReadonlyArray<string> = guideFiles.map(([path]) => path)

const readGuide = ([path, file, label]: (typeof guideFiles)[number]): Guide => {
  const text = readFileSync(new URL(`./guides/${file}.md`, import.meta.url), "utf8")
  const markdown = text.replaceAll(/^```mermaid\n[\s\S]*?^```\n\n/gm, "") // browsers draw no diagrams
  const [heading = "", summary = ""] = markdown.split("\n\n", 2)
  return { path, label, title: heading.replace(/^# /, ""), summary, markdown }
}

let cached: ReadonlyArray<Guide> | undefined
export const guides = (): ReadonlyArray<Guide> => {
  cached ??= guideFiles.map(readGuide)
  return cached
}

export const findGuide = (path: string): Guide => {
  const guide = guides().find((guide) => guide.path === path)
  if (guide === undefined) throw new Error(`there is no guide at ${path}`)
  return guide
}

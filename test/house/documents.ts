/** Reads the documents in the repository, which the tests in this folder compare with the code. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { repository } from "../support/repository.ts"

export interface Document {
  /** Path from the top folder, with slashes. */
  readonly file: string
  readonly text: string
}

const listFiles = (folder: string, recursive = false) =>
  readdirSync(path.join(repository, folder), { recursive, encoding: "utf8" })
    .filter((name) => !name.includes("node_modules"))
    .map((name) => path.posix.join(folder, name.replaceAll(path.sep, "/")))

export const readDocument = (file: string): Document => ({
  file,
  text: readFileSync(path.join(repository, file), "utf8")
})
const readMarkdown = (folder: string, recursive = false) =>
  listFiles(folder, recursive)
    .filter((file) => file.endsWith(".md"))
    .map(readDocument)

export const readme = readDocument("README.md")
/** The pages of `docs`. */
export const docs: ReadonlyArray<Document> = readMarkdown("docs", true)
/** The pages of the server at `/docs`. */
export const guideFiles: ReadonlyArray<Document> = readMarkdown("serve/docs/guides")

const topDocuments = ["CHANGELOG.md", "SECURITY.md"].filter((file) => existsSync(path.join(repository, file)))
export const everyDocument: ReadonlyArray<Document> = [
  readme,
  ...topDocuments.map(readDocument),
  ...docs,
  ...guideFiles,
  ...readMarkdown("examples"),
  ...readMarkdown("pipelines", true)
]

/** The texts of source files in rooms. */
export const readSources = (rooms: ReadonlyArray<string>, isWanted: (file: string) => boolean): ReadonlyArray<string> =>
  rooms
    .flatMap((room) => listFiles(room, true))
    .filter((file) => file.endsWith(".ts") && isWanted(file))
    .map((file) => readDocument(file).text)

export interface Fence {
  readonly language: string
  readonly text: string
  /** Offset of its end in the document. */
  readonly end: number
}
export const findFences = ({ text }: Document): ReadonlyArray<Fence> =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? "",
    text: match[2] ?? "",
    end: match.index + match[0].length
  }))

export const removeFences = ({ text }: Document): string => text.replace(/^```[\s\S]*?^```$/gm, "")

/** Texts in backticks, outside of code blocks. */
export const findInlineCode = (document: Document): ReadonlyArray<string> =>
  [...removeFences(document).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code)

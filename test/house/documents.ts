/** The documents for people, as files of the repository. Tests in this folder hold them to the code. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { repository } from "../support/repository.ts"

export interface Document {
  /** Path from the top folder, with slashes. */
  readonly file: string
  readonly text: string
}

const filesIn = (folder: string, recursive = false) =>
  readdirSync(path.join(repository, folder), { recursive, encoding: "utf8" })
    .filter((name) => !name.includes("node_modules"))
    .map((name) => path.posix.join(folder, name.replaceAll(path.sep, "/")))

export const documentAt = (file: string): Document => ({
  file,
  text: readFileSync(path.join(repository, file), "utf8")
})
const markdownIn = (folder: string, recursive = false) =>
  filesIn(folder, recursive)
    .filter((file) => file.endsWith(".md"))
    .map(documentAt)

export const readme = documentAt("README.md")
/** One page for each kind of reader. */
export const docs: ReadonlyArray<Document> = markdownIn("docs", true)
/** What the server shows at `/docs`. */
export const guideFiles: ReadonlyArray<Document> = markdownIn("serve/docs/guides")

const atTheTop = ["CHANGELOG.md", "SECURITY.md"].filter((file) => existsSync(path.join(repository, file)))
export const everyDocument: ReadonlyArray<Document> = [
  readme,
  ...atTheTop.map(documentAt),
  ...docs,
  ...guideFiles,
  ...markdownIn("examples"),
  ...markdownIn("pipelines", true)
]

/** Files of the programs, or of the tests. */
export const sourcesIn = (rooms: ReadonlyArray<string>, isWanted: (file: string) => boolean): ReadonlyArray<string> =>
  rooms
    .flatMap((room) => filesIn(room, true))
    .filter((file) => file.endsWith(".ts") && isWanted(file))
    .map((file) => documentAt(file).text)

export interface Fence {
  readonly language: string
  readonly text: string
  /** Where it ends in the document. */
  readonly end: number
}
export const fencesOf = ({ text }: Document): ReadonlyArray<Fence> =>
  [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    language: match[1] ?? "",
    text: match[2] ?? "",
    end: match.index + match[0].length
  }))

export const withoutFences = ({ text }: Document): string => text.replace(/^```[\s\S]*?^```$/gm, "")

/** What is written in the line as code. */
export const codesIn = (document: Document): ReadonlyArray<string> =>
  [...withoutFences(document).matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code)

/** Checks the targets of links in the documents: headings, files of the repository, pages of the server. */
import { existsSync, globSync } from "node:fs"
import path from "node:path"
import { guidePaths } from "@larder/serve/docs/guides.ts"
import { describe, expect, it } from "vitest"
import { repository } from "../support/repository.ts"
import { everyDocument, findFences, findInlineCode, guideFiles, readDocument, removeFences } from "./documents.ts"

const exists = (file: string) => existsSync(path.join(repository, file))

/** As on GitHub: lower case, spaces as hyphens, only letters, digits, hyphens and underscores. */
const toAnchor = (heading: string) =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-")
const findAnchors = (file: string) =>
  [...removeFences(readDocument(file)).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => toAnchor(heading))

const links = everyDocument.flatMap((document) =>
  [...removeFences(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = ""]) => ({ file: document.file, href }))
)
const relative = links.filter(({ href }) => !/^(https?:|\/)/.test(href))

const rooms = ["schemas", "warehouse", "pipelines", "serve", "test", "examples", "docs"]
/** Whether a text looks like a path in the repository. Placeholders for users contain `<…>`. */
const isPathLike = (code: string) =>
  new RegExp(`^(${rooms.join("|")})(/[\\w.*@-]+)+/?$`).test(code) || /^[\w-]+\.(md|json|mjs)$/.test(code)
/** Files of users and sources that are not in the repository. */
const foreignFiles = new Set([
  "stores.json",
  "meta.json",
  "products.json",
  "collections.json",
  "food.json",
  "probe.json"
])
const namedPaths = everyDocument.flatMap((document) => {
  const inShell = findFences(document).flatMap(({ language, text }) =>
    language === "sh" ? text.split("\n").flatMap((line) => (line.split(" #")[0] ?? "").split(/\s+/)) : []
  )
  return [...findInlineCode(document), ...inShell]
    .filter((code) => isPathLike(code) && !foreignFiles.has(code))
    .map((code) => ({ file: document.file, code }))
})

describe("the documents", () => {
  it("link only to files and folders that exist", () => {
    const broken = relative.filter(({ file, href }) => {
      const [target = ""] = href.split("#")
      return target !== "" && !exists(path.join(path.dirname(file), target))
    })
    expect(broken).toEqual([])
    expect(relative.length).toBeGreaterThan(60)
  })

  it("link only to headings that exist", () => {
    const broken = relative.filter(({ file, href }) => {
      const [target = "", anchor] = href.split("#")
      const page = target === "" ? file : path.join(path.dirname(file), target)
      return anchor !== undefined && exists(page) && !findAnchors(page).includes(anchor)
    })
    expect(broken).toEqual([])
    expect(relative.filter(({ href }) => href.includes("#")).length).toBeGreaterThan(10)
  })

  it("have no two headings with the same anchor on one page", () => {
    const duplicates = everyDocument.flatMap(({ file }) =>
      findAnchors(file).flatMap((anchor, index, all) => (all.indexOf(anchor) === index ? [] : [`${file}#${anchor}`]))
    )
    expect(duplicates).toEqual([])
  })

  it("name only files and folders that exist", () => {
    const missing = namedPaths.filter(({ code, file }) => {
      const relativePath = path.join(path.dirname(file), code)
      return code.includes("*")
        ? globSync(code, { cwd: repository }).length === 0
        : !exists(code) && !exists(relativePath)
    })
    expect(missing).toEqual([])
    expect(namedPaths.length).toBeGreaterThan(60)
  })

  it("link to existing pages of the server, and only from guides", () => {
    const served = new Set([...guidePaths, "/docs/reference", "/llms.txt", "/openapi.json"])
    const serverLinks = links.filter(({ href }) => href.startsWith("/"))
    expect(serverLinks.filter(({ href }) => !served.has(href.split("#")[0] ?? ""))).toEqual([])
    const guides = new Set(guideFiles.map(({ file }) => file))
    expect(serverLinks.filter(({ file }) => !guides.has(file))).toEqual([])
  })

  it("do not link from guides to files of the repository", () => {
    const inGuides = relative.filter(({ file }) => file.startsWith("serve/docs/guides/"))
    expect(inGuides.filter(({ href }) => !href.startsWith("#"))).toEqual([])
  })
})

/** What the documents lead to: links, headings, files of the repository, pages of the server. */
import { existsSync, globSync } from "node:fs"
import path from "node:path"
import { guidePaths } from "@larder/serve/docs"
import { describe, expect, it } from "vitest"
import { repository } from "../support/repository.ts"
import { codesIn, documentAt, everyDocument, fencesOf, guideFiles, withoutFences } from "./documents.ts"

const isThere = (file: string) => existsSync(path.join(repository, file))

/** As GitHub makes them: lower case, blanks as hyphens, nothing but letters, digits, hyphens and underscores. */
const anchorOf = (heading: string) =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-")
const anchorsOf = (file: string) =>
  [...withoutFences(documentAt(file)).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => anchorOf(heading))

const links = everyDocument.flatMap((document) =>
  [...withoutFences(document).matchAll(/\]\(([^)\s]+)\)/g)].map(([, href = ""]) => ({ file: document.file, href }))
)
const relative = links.filter(({ href }) => !/^(https?:|\/)/.test(href))

const rooms = ["schemas", "warehouse", "pipelines", "serve", "test", "examples", "docs"]
/** A file or folder of the repository, as far as its spelling tells. What a user types for a placeholder has `<…>`. */
const looksLikeOurs = (code: string) =>
  new RegExp(`^(${rooms.join("|")})(/[\\w.*@-]+)+/?$`).test(code) || /^[\w-]+\.(md|json|mjs)$/.test(code)
/** Files of users and of sources, which have names like ours. */
const foreign = new Set(["stores.json", "meta.json", "products.json", "collections.json", "food.json", "probe.json"])
const named = everyDocument.flatMap((document) => {
  const inShell = fencesOf(document).flatMap(({ language, text }) =>
    language === "sh" ? text.split("\n").flatMap((line) => (line.split(" #")[0] ?? "").split(/\s+/)) : []
  )
  return [...codesIn(document), ...inShell]
    .filter((code) => looksLikeOurs(code) && !foreign.has(code))
    .map((code) => ({ file: document.file, code }))
})

describe("the documents", () => {
  it("link only to files and folders that exist", () => {
    const broken = relative.filter(({ file, href }) => {
      const [target = ""] = href.split("#")
      return target !== "" && !isThere(path.join(path.dirname(file), target))
    })
    expect(broken).toEqual([])
    expect(relative.length).toBeGreaterThan(60)
  })

  it("link only to headings that exist", () => {
    const broken = relative.filter(({ file, href }) => {
      const [target = "", anchor] = href.split("#")
      const page = target === "" ? file : path.join(path.dirname(file), target)
      return anchor !== undefined && isThere(page) && !anchorsOf(page).includes(anchor)
    })
    expect(broken).toEqual([])
    expect(relative.filter(({ href }) => href.includes("#")).length).toBeGreaterThan(10)
  })

  it("have no two headings with the same address on one page", () => {
    const twice = everyDocument.flatMap(({ file }) =>
      anchorsOf(file).flatMap((anchor, at, all) => (all.indexOf(anchor) === at ? [] : [`${file}#${anchor}`]))
    )
    expect(twice).toEqual([])
  })

  it("name only files and folders that exist", () => {
    const missing = named.filter(({ code, file }) => {
      const beside = path.join(path.dirname(file), code)
      return code.includes("*") ? globSync(code, { cwd: repository }).length === 0 : !isThere(code) && !isThere(beside)
    })
    expect(missing).toEqual([])
    expect(named.length).toBeGreaterThan(60)
  })

  it("link to existing pages of the server, and only from guides", () => {
    const served = new Set([...guidePaths, "/docs/reference", "/llms.txt", "/openapi.json"])
    const rooted = links.filter(({ href }) => href.startsWith("/"))
    expect(rooted.filter(({ href }) => !served.has(href.split("#")[0] ?? ""))).toEqual([])
    const ofGuides = new Set(guideFiles.map(({ file }) => file))
    expect(rooted.filter(({ file }) => !ofGuides.has(file))).toEqual([])
  })

  it("link from guides to no files of the repository", () => {
    const inGuides = relative.filter(({ file }) => file.startsWith("serve/docs/guides/"))
    expect(inGuides.filter(({ href }) => !href.startsWith("#"))).toEqual([])
  })
})

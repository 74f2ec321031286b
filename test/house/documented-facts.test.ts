/** Compares facts in README and docs with the code: scripts, dependencies, endpoints, and the output of a start. */
import { readFileSync } from "node:fs"
import path from "node:path"
import { endpoints, templateOf } from "@larder/schemas"
import { formatWelcome } from "@larder/serve/cli"
import { describe, expect, it } from "vitest"
import { repository } from "../support/repository.ts"
import { docs, everyDocument, findFences, findInlineCode, readDocument, readme } from "./documents.ts"

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}
const readManifest = (folder: string) =>
  JSON.parse(readFileSync(path.join(repository, folder, "package.json"), "utf8")) as Manifest

const dependencies = [".", "schemas", "warehouse", "warehouse/bin/older-node", "pipelines", "serve", "test", "test/ci"]
  .map(readManifest)
  .flatMap((room) => Object.keys({ ...room.dependencies, ...room.devDependencies }))
  .filter((name) => !name.startsWith("@larder/"))

/** Scripts in `npm start`, `npm test` and `npm run …`, in inline code and code blocks. */
const namedScripts = everyDocument.flatMap((document) =>
  [...findInlineCode(document), ...findFences(document).map(({ text }) => text)].flatMap((code) =>
    [...code.matchAll(/\bnpm (?:run ([a-z:-]+)|(start|test)\b)/g)].map((match) => match[1] ?? match[2] ?? "")
  )
)

describe("the README", () => {
  it("has at most 150 lines", () => {
    expect(readme.text.trimEnd().split("\n").length).toBeLessThanOrEqual(150)
  })

  it.each(["npm start", "npm test", "turbo run ingest", "npm run test:all"])("names %s", (command) => {
    expect(readme.text).toContain(command)
  })

  it("shows the output of a start", () => {
    const output = formatWelcome(
      {
        apiUrl: "http://127.0.0.1:8080",
        consoleUrl: "http://127.0.0.1:8081",
        isOnAllInterfaces: false,
        generation: "larder-000003",
        data_sets: { commodities: true, branded_foods: true, storefronts: true },
        payments: "simulated"
      },
      { key: "svc_data_…", balance_credits: 5000, link: "http://127.0.0.1:8081/invitation/…" }
    )
    const [before = ""] = output.split("\n\nTry:")
    expect(readme.text).toContain(before)
  })
})

describe("the documents", () => {
  it("name only scripts that package.json has", () => {
    const scripts = Object.keys(readManifest(".").scripts)
    expect([...new Set(namedScripts)].filter((name) => !scripts.includes(name))).toEqual([])
    expect(namedScripts).toEqual(expect.arrayContaining(["start", "test", "bench"]))
  })

  it("contain no placeholder such as TODO or TBD", () => {
    expect(everyDocument.filter(({ text }) => /@@|\bTODO\b|\bTBD\b/.test(text)).map(({ file }) => file)).toEqual([])
  })

  it("link every page of docs/ from the README", () => {
    expect(docs.map(({ file }) => file).filter((file) => !readme.text.includes(`(${file})`))).toEqual([])
  })
})

describe("docs/dependencies.md", () => {
  const { text } = readDocument("docs/dependencies.md")
  it.each([...new Set(dependencies)])("explains why %s is used", (name) => {
    expect(text).toContain(`\`${name}\``)
  })
})

describe("docs/api.md", () => {
  it("lists every endpoint with its scope and price", () => {
    const rows = endpoints.map(
      ({ credits, path, scope }) => `| \`GET ${templateOf(path)}\` | \`${scope}\` | ${credits} |`
    )
    const { text } = readDocument("docs/api.md")
    expect([...text.matchAll(/^\| `GET .*$/gm)].map(([row]) => row).toSorted()).toEqual(rows.toSorted())
  })
})

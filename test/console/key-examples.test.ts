/** Runs the examples from the page of a new key. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { type Scope, scopes } from "@larder/schemas"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Browser } from "../support/console/browser.ts"
import { findKey, unescapeHtml } from "../support/console/pages.ts"
import { useSharedConsole } from "../support/console/served-console.ts"
import { type Ended, waitForExit } from "../support/programs.ts"

const site = useSharedConsole()
const folder = mkdtempSync(path.join(tmpdir(), "larder-key-examples-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let browser: Browser
const createKey = async (chosen: ReadonlyArray<Scope>) => {
  const fields = { name: "Dashboard", access: "custom", scopes: chosen, budget: "5" }
  return (await browser.submit("/keys/new", fields)).text
}
/** An example on a page, and the note above it. */
const readExample = (page: string, id: string) => {
  const [, preceding = "", text = ""] =
    new RegExp(`<h3>((?:(?!<h3>).)*)<code id="${id}">(.*?)</code>`, "s").exec(page) ?? []
  return { text: unescapeHtml(text), note: unescapeHtml(/<p class="hint">(.*?)<\/p>/s.exec(preceding)?.[1] ?? "") }
}

const run = (program: string, ...args: ReadonlyArray<string>) =>
  waitForExit(spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] }))
const runInTerminal = (text: string) => run("sh", "-c", text)
const runInNode = (text: string) => {
  const file = path.join(folder, "example.ts")
  writeFileSync(file, text)
  return run(process.execPath, file)
}

const listFields = ({ stdout }: Ended) => Object.keys(JSON.parse(stdout) as object)

/** The id of the first record that a key with search scopes finds. */
const findId = async (key: string, target: string) => {
  const response = await fetch(`${site.api()}${target}`, { headers: { authorization: `Bearer ${key}` } })
  return /"id":"([^"]+)"/.exec(await response.text())?.[1] ?? ""
}
const findIds = async () => {
  const key = findKey(await createKey(scopes)) ?? ""
  const store = await findId(key, "/v1/stores?limit=1")
  return {
    FOOD_ID: await findId(key, "/v1/branded-foods?name=cheddar&limit=1"),
    STORE_ID: store,
    PRODUCT_ID: await findId(key, `/v1/stores/${store}/products?limit=1`)
  }
}
type Ids = Awaited<ReturnType<typeof findIds>>
let ids: Ids
beforeAll(async () => {
  browser = (await site.signIn()).browser
  ids = await findIds()
})

const findPlaceholder = (text: string) => /\b(?:FOOD|STORE|PRODUCT)_ID\b/.exec(text)?.[0] as keyof Ids | undefined

describe("the examples of a new key", () => {
  it("run unchanged with every scope, in a terminal and in TypeScript", async () => {
    const page = await createKey(scopes)
    const terminal = readExample(page, "curl")
    const typescript = readExample(page, "typescript")
    expect([terminal.note, typescript.note]).toEqual(["", ""])
    const [terminalRun, nodeRun] = [await runInTerminal(terminal.text), await runInNode(typescript.text)]
    expect([terminalRun.code, listFields(terminalRun)]).toEqual([0, ["data"]])
    expect([nodeRun.code, nodeRun.stderr]).toEqual([0, ""])
    expect(nodeRun.stdout).toMatch(/credits left: \d/)
  })

  /** An example with the id that the page requires, if any. */
  const prepareExample = async (scope: Scope, id: "curl" | "typescript") => {
    const { note, text } = readExample(await createKey([scope]), id)
    const placeholder = findPlaceholder(text)
    if (placeholder === undefined) expect(note).toBe("")
    else expect(note).toContain(`Replace ${placeholder} with the id of a`)
    return placeholder === undefined ? text : text.replace(placeholder, ids[placeholder])
  }

  it.each(scopes)(
    "run in a terminal with only the scope %s, unchanged or with the id that the page requires",
    async (scope) => {
      const { code, stdout } = await runInTerminal(await prepareExample(scope, "curl"))
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^\{"data":/)])
    }
  )

  it("run in TypeScript with each single scope, unchanged or with the id that the page requires", async () => {
    for (const scope of scopes)
      writeFileSync(path.join(folder, `${scope}.ts`), await prepareExample(scope, "typescript"))
    const imports = scopes.map((scope) => `await import("./${scope}.ts")\nconsole.log("${scope} ran")`)
    const { code, stderr, stdout } = await runInNode(imports.join("\n"))
    expect([code, stderr]).toEqual([0, ""])
    const printed = stdout.split(/^.* ran\n/m)
    for (const [index, scope] of scopes.entries())
      expect([scope, printed[index]]).toEqual([scope, expect.stringMatching(/credits left: \d/)])
  })
})

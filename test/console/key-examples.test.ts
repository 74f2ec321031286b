/** The examples on the page of a new key, taken from the page and run as its reader would. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { type Scope, scopes } from "@larder/schemas"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Browser } from "../support/console/browser.ts"
import { keyIn, servedConsole } from "../support/console/served-console.ts"
import { unescaped } from "../support/console/spending-console.ts"
import { type Ended, waitForExit } from "../support/programs.ts"

const site = servedConsole()
const folder = mkdtempSync(path.join(tmpdir(), "larder-key-examples-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let browser: Browser
const pageOf = async (chosen: ReadonlyArray<Scope>) => {
  const fields = { name: "Dashboard", access: "custom", scopes: chosen, budget: "5" }
  return (await browser.post("/keys/new", fields)).text
}
/** The text of an example, and what is said above it. */
const exampleIn = (page: string, id: string) => {
  const [, above = "", text = ""] =
    new RegExp(`<h3>((?:(?!<h3>).)*)<code id="${id}">(.*?)</code>`, "s").exec(page) ?? []
  return { text: unescaped(text), note: unescaped(/<p class="hint">(.*?)<\/p>/s.exec(above)?.[1] ?? "") }
}

const run = (program: string, ...args: ReadonlyArray<string>) =>
  waitForExit(spawn(program, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] }))
const inTerminal = (text: string) => run("sh", "-c", text)
const inNode = (text: string) => {
  const file = path.join(folder, "example.ts")
  writeFileSync(file, text)
  return run(process.execPath, file)
}

const keysOf = ({ stdout }: Ended) => Object.keys(JSON.parse(stdout) as object)

/** Found by a key that may search. */
const idIn = async (key: string, target: string) => {
  const found = await fetch(`${site.api()}${target}`, { headers: { authorization: `Bearer ${key}` } })
  return /"id":"([^"]+)"/.exec(await found.text())?.[1] ?? ""
}
const findIds = async () => {
  const key = keyIn(await pageOf(scopes)) ?? ""
  const store = await idIn(key, "/v1/stores?limit=1")
  return {
    FOOD_ID: await idIn(key, "/v1/branded-foods?name=cheddar&limit=1"),
    STORE_ID: store,
    PRODUCT_ID: await idIn(key, `/v1/stores/${store}/products?limit=1`)
  }
}
type Ids = Awaited<ReturnType<typeof findIds>>
let ids: Ids
beforeAll(async () => {
  browser = (await site.signedIn()).browser
  ids = await findIds()
})

const needed = (text: string) => /\b(?:FOOD|STORE|PRODUCT)_ID\b/.exec(text)?.[0] as keyof Ids | undefined

describe("the examples of a new key", () => {
  it("run unchanged with every scope, in a terminal and in TypeScript", async () => {
    const page = await pageOf(scopes)
    const terminal = exampleIn(page, "curl")
    const typescript = exampleIn(page, "typescript")
    expect([terminal.note, typescript.note]).toEqual(["", ""])
    const [answer, printed] = [await inTerminal(terminal.text), await inNode(typescript.text)]
    expect([answer.code, keysOf(answer)]).toEqual([0, ["data"]])
    expect([printed.code, printed.stderr]).toEqual([0, ""])
    expect(printed.stdout).toMatch(/credits left: \d/)
  })

  /** An example that is ready to run: unchanged, or with the id that the page asks for. */
  const ready = async (scope: Scope, id: "curl" | "typescript") => {
    const { note, text } = exampleIn(await pageOf([scope]), id)
    const placeholder = needed(text)
    if (placeholder === undefined) expect(note).toBe("")
    else expect(note).toContain(`Replace ${placeholder} with the id of a`)
    return placeholder === undefined ? text : text.replace(placeholder, ids[placeholder])
  }

  it.each(scopes)(
    "run in a terminal with the scope %s only, unchanged or with the id that the page asks for",
    async (scope) => {
      const { code, stdout } = await inTerminal(await ready(scope, "curl"))
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^\{"data":/)])
    }
  )

  it("run in TypeScript with each scope alone, unchanged or with the id that the page asks for", async () => {
    for (const scope of scopes) writeFileSync(path.join(folder, `${scope}.ts`), await ready(scope, "typescript"))
    const all = scopes.map((scope) => `await import("./${scope}.ts")\nconsole.log("${scope} ran")`)
    const { code, stderr, stdout } = await inNode(all.join("\n"))
    expect([code, stderr]).toEqual([0, ""])
    const printed = stdout.split(/^.* ran\n/m)
    for (const [index, scope] of scopes.entries())
      expect([scope, printed[index]]).toEqual([scope, expect.stringMatching(/credits left: \d/)])
  })
})

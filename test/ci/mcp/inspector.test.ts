/** The command line of the protocol's inspector lists the tools of a key, and calls one. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { templateOf } from "@larder/schemas"
import { afterAll, describe, expect, it } from "vitest"
import { endpointsByTool, toolNames } from "../../mcp/assistant.ts"
import { useSharedServer } from "../../support/api/server.ts"
import { waitForExit } from "../../support/programs.ts"

const program = path.join(
  fileURLToPath(import.meta.resolve("@modelcontextprotocol/inspector/package.json")),
  "../clients/cli/build/index.js"
)
/** The inspector writes files into its user's home folder. */
const home = mkdtempSync(path.join(tmpdir(), "larder-inspector-"))
afterAll(() => rmSync(home, { recursive: true }))

const api = useSharedServer()

interface Result {
  readonly isError?: boolean
  readonly structuredContent: { readonly data: unknown }
  readonly _meta: Readonly<Record<string, unknown>>
}

const inspect = async <A>(method: string, args: ReadonlyArray<string> = []): Promise<A> => {
  const header = `Authorization: Bearer ${api.key().key}`
  const target = [`${api.server().api}/mcp`, "--transport", "http", "--header", header]
  const child = spawn(process.execPath, [program, ...target, "--method", method, ...args], {
    env: { PATH: process.env.PATH, HOME: home },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const { code, stderr, stdout } = await waitForExit(child)
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("svc_data_")])
  return JSON.parse(stdout)
}

const call = (name: string, args: Readonly<Record<string, string>>) => {
  const pairs = Object.entries(args).map(([argument, value]) => `${argument}=${value}`)
  return inspect<Result>("tools/call", ["--tool-name", name, ...(pairs.length > 0 ? ["--tool-arg", ...pairs] : [])])
}

describe("the inspector", () => {
  it("lists every tool, and its strict mode accepts their schemas", async () => {
    const { tools } = await inspect<{ readonly tools: ReadonlyArray<{ readonly name: string }> }>("tools/list", [
      "--strict"
    ])
    expect(tools.map(({ name }) => name)).toEqual(toolNames)
  })

  it("calls a tool with a text and a number, and the ledger charges the call once", async () => {
    const name = "search_branded_foods"
    const { _meta, isError = false, structuredContent } = await call(name, { name: "cheddar", limit: "1" })
    expect([isError, structuredContent.data]).toEqual([false, [expect.objectContaining({ id: expect.any(String) })]])
    const { credits, path } = endpointsByTool.get(name) ?? { credits: 0, path: "" }
    expect(_meta["larder/credits_charged"]).toBe(credits)
    api.client().charges.push({ request_id: String(_meta["larder/request_id"]), credits, endpoint: templateOf(path) })
  })
})

/** The bridge that the guide names for assistants that can only start a program, started as the guide says. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { afterAll, describe, expect, it } from "vitest"
import { connectClient, formatError, makeCall, toolNames } from "../../mcp/assistant.ts"
import { useSharedServer } from "../../support/api/server.ts"

const installed = path.dirname(fileURLToPath(import.meta.resolve("mcp-remote/package.json")))
/** It writes files into its user's home folder. */
const home = mkdtempSync(path.join(tmpdir(), "larder-mcp-remote-"))
afterAll(() => rmSync(home, { recursive: true }))

const api = useSharedServer()
const call = makeCall(() => api.client().charges)

interface Configuration {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
}

/** The second configuration in the guide, with this key. */
const readConfiguration = async (key: string): Promise<Configuration> => {
  const guide = await (await fetch(`${api.server().api}/docs/assistants.md`)).text()
  const [, local = ""] = [...guide.matchAll(/```text\n(\{.*?)```/gs)].map((match) => match[1])
  return JSON.parse(local.replace("svc_data_…", key)).mcpServers.larder
}

/** Starts the installed package in the place of `npx -y mcp-remote@VERSION`. */
const startBridge = async (key: string) => {
  const { args, command, env } = await readConfiguration(key)
  const [yes, name, ...others] = args
  const { version } = JSON.parse(readFileSync(path.join(installed, "package.json"), "utf8"))
  expect([command, yes, name]).toEqual(["npx", "-y", `mcp-remote@${version}`])
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [path.join(installed, "dist/proxy.js"), ...others],
    env: { ...env, PATH: process.env.PATH ?? "", HOME: home },
    stderr: "pipe"
  })
  let log = ""
  transport.stderr?.on("data", (piece) => {
    log += piece
  })
  return { transport, log: () => log }
}

describe("mcp-remote", () => {
  it("lists the tools, and calls one that is charged once", async () => {
    const { log, transport } = await startBridge(api.key().key)
    const client = await connectClient(transport, "legacy")
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(toolNames)
    const { body, charged } = await call(client, "search_stores", { limit: 1 })
    expect(body).toBe((await api.get("/v1/stores?limit=1")).text)
    expect(charged).toBe(100)
    const missing = await call(client, "get_store", { id: "platform_store_none" })
    expect([formatError(missing), missing.charged]).toEqual(["not_found: Unknown store: platform_store_none", 0])
    await client.close()
    expect(log()).not.toContain(api.key().key.slice(9))
  })

  it("ends with the cause when the key is wrong", async () => {
    const { log, transport } = await startBridge(`svc_data_${"a".repeat(64)}`)
    await expect(connectClient(transport, "legacy")).rejects.toThrow()
    expect(log()).toContain("The API key is missing, malformed, unknown or revoked.")
    expect(log()).not.toContain("browser") // it opens one only for a sign-in
  })
})

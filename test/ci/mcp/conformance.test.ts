/**
 * Runs the protocol's own conformance tool against a running server. The tool cannot send keys: a small proxy on this
 * machine adds one, and changes nothing else.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer, request as httpRequest, type Server } from "node:http"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { bearer } from "../../support/api/client.ts"
import { useSharedServer } from "../../support/api/server.ts"
import { waitForExit } from "../../support/programs.ts"

const api = useSharedServer()

/**
 * Scenarios that test something other than tools, that need a session, or that call tools of the conformance tool's own
 * example server.
 */
const notApplicable = [
  "server-sse-multiple-streams",
  "logging-set-level",
  "completion-complete",
  "tools-call-simple-text",
  "tools-call-image",
  "tools-call-audio",
  "tools-call-embedded-resource",
  "tools-call-mixed-content",
  "tools-call-with-logging",
  "tools-call-error",
  "tools-call-with-progress",
  "tools-call-sampling",
  "tools-call-elicitation",
  "elicitation-sep1034-defaults",
  "elicitation-sep1330-enums",
  "resources-list",
  "resources-read-text",
  "resources-read-binary",
  "resources-templates-read",
  "resources-subscribe",
  "resources-unsubscribe",
  "prompts-list",
  "prompts-get-simple",
  "prompts-get-with-args",
  "prompts-get-embedded-resource",
  "prompts-get-with-image"
]
const applicable = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"]

describe("the protocol's conformance tool", () => {
  let proxy: Server
  const folder = mkdtempSync(path.join(tmpdir(), "larder-conformance-"))
  beforeAll(async () => {
    const { hostname, port } = new URL(api.server().api)
    proxy = createServer((incoming, outgoing) => {
      const headers = { ...incoming.headers, ...bearer(api.key().key) }
      const { method, url } = incoming
      const forwarded = httpRequest({ hostname, port, path: url, method, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(outgoing)
      })
      forwarded.on("error", () => outgoing.destroy())
      incoming.pipe(forwarded)
    })
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
  })
  afterAll(() => {
    proxy.closeAllConnections()
    proxy.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it("finds no failure in the scenarios that apply to a server with only tools and no sessions", async () => {
    const baseline = path.join(folder, "not-applicable.yml")
    writeFileSync(baseline, ["server:", ...notApplicable.map((scenario) => `  - ${scenario}`), ""].join("\n"))
    const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")
    const tool = path.join(path.dirname(manifest), "dist/index.js")
    const { port } = proxy.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/mcp`
    const child = spawn(process.execPath, [tool, "server", "--url", url, "--expected-failures", baseline], {
      cwd: folder
    })
    const { code, stderr, stdout } = await waitForExit(child)
    for (const scenario of applicable)
      expect(stdout + stderr).toMatch(new RegExp(`✓ ${scenario}: \\d+ passed, 0 failed`))
    expect(code).toBe(0) // not 0 either if one of the other scenarios passes
  })
})

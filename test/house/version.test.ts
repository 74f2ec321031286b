/** The version is only in the top package.json, so that a release changes one place. */
import { readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { connectClient, makeHttpTransport } from "../mcp/assistant.ts"
import { useSharedServer } from "../support/api/server.ts"
import { run } from "../support/programs.ts"
import { repository } from "../support/repository.ts"

interface Manifest {
  readonly version?: string
  readonly workspaces?: ReadonlyArray<string>
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(path.join(repository, folder, "package.json"), "utf8"))

const { version, workspaces = [] } = readManifest(".")
const api = useSharedServer()

describe("the version of package.json", () => {
  it("is the only one: no workspace has its own", () => {
    expect(version).toMatch(/^\d+\.\d+\.\d+/)
    expect(workspaces.map((folder) => readManifest(folder).version)).toEqual(workspaces.map(() => undefined))
  })

  it.each(["larder-ingest", "larder-serve"] as const)("is printed by %s --version", async (program) => {
    expect((await run(program, ["--version"], {})).stdout).toBe(`${program} v${version}\n`)
  })

  it("is returned by /healthz", async () => {
    expect(await (await fetch(`${api.server().console}/healthz`)).json()).toEqual({ status: "alive", version })
  })

  it("is the program's version in the OpenAPI document", async () => {
    expect((await api.get("/openapi.json")).json).toMatchObject({ info: { "x-program-version": version } })
  })

  it("is reported to assistants", async () => {
    const client = await connectClient(makeHttpTransport(api.server().api, api.key().key), "legacy")
    expect(client.getServerVersion()).toMatchObject({ name: "larder", version })
    await client.close()
  })
})

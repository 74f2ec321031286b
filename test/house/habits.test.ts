/** What contributors and the CI host run. A moved file or a renamed script would break it unnoticed. */
import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { repository } from "../support/repository.ts"

const textOf = (file: string) => readFileSync(path.join(repository, file), "utf8")
const { scripts } = JSON.parse(textOf("package.json")) as { readonly scripts: Readonly<Record<string, string>> }
const { dependencies } = JSON.parse(textOf("warehouse/bin/older-node/package.json")) as {
  readonly dependencies: { readonly node: string }
}

describe("npm run", () => {
  it("test begins with check, which covers format, lint and types", () => {
    expect(scripts.check).toMatch(/biome check .*tsc/)
    expect(scripts.test).toMatch(/^npm run check && /)
  })

  it.each(["start", "dev", "bench", "test:crash", "test:histories"])("%s runs a file that exists", (name) => {
    const [, file = "nothing"] = /^node (\S+)/.exec(scripts[name] ?? "") ?? []
    expect(existsSync(path.join(repository, file)), file).toBe(true)
  })
})

describe("the workflow of the CI host", () => {
  const workflow = textOf(".github/workflows/ci.yml")

  it("runs .ci/run and no steps of its own", () => {
    expect([...workflow.matchAll(/run: (.+)/g)].map(([, command]) => command)).toEqual(["bash .ci/run"])
  })

  it("covers the oldest Node that can start Larder and the one that the package brings", () => {
    const [, versions = ""] = /node: \[(.+)\]/.exec(workflow) ?? []
    expect(versions.split(", ")).toEqual(["20", dependencies.node.split(".")[0]])
  })
})

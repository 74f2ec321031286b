/** Checks the workflow file of the CI host, which no other test reads. */
import { readFileSync } from "node:fs"
import path from "node:path"
import { describe, expect, it } from "vitest"
import { repository } from "../support/repository.ts"

const readText = (file: string) => readFileSync(path.join(repository, file), "utf8")
const olderNode = JSON.parse(readText("warehouse/bin/older-node/package.json")) as {
  readonly dependencies: { readonly node: string }
}

describe("the workflow of the CI host", () => {
  const workflow = readText(".github/workflows/ci.yml")

  it("runs .ci/run and no steps of its own", () => {
    expect([...workflow.matchAll(/run: (.+)/g)].map(([, command]) => command)).toEqual(["bash .ci/run"])
  })

  it("covers the oldest Node that can start Larder and the one that it runs on", () => {
    const [, versions = ""] = /node: \[(.+)\]/.exec(workflow) ?? []
    expect(versions.split(", ")).toEqual(["20", olderNode.dependencies.node.split(".")[0]])
  })
})

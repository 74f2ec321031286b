/**
 * A `LARDER_HOME` that was filled by one real run of the bundled samples, made once for all tests of a run. Tests copy it;
 * nobody writes to it.
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import type { TestProject } from "vitest/node"
import { repository } from "./repository.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly sampleHome: string
  }
}

export default (project: TestProject) => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-sample-"))
  const ingest = path.join(repository, "pipelines/bin/larder-ingest.mjs")
  const { status, stderr } = spawnSync(process.execPath, [ingest, "all", "--json"], {
    env: { ...process.env, LARDER_HOME: home, LARDER_SOURCES: "sample" },
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(`the bundled samples could not be ingested:\n${stderr}`)
  project.provide("sampleHome", home)
  return () => rmSync(home, { recursive: true, force: true })
}

/** A copy of its own, without the raw archive, which no server reads. */
export const copyHome = (sampleHome: string): string => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-home-"))
  cpSync(path.join(sampleHome, "warehouse"), path.join(home, "warehouse"), {
    recursive: true,
    verbatimSymlinks: true
  })
  return home
}

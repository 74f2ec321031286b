/**
 * A `LARDER_HOME` with the bundled samples, filled by the real program once per test run. Tests copy it, and never write
 * to it.
 */
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import type { TestProject } from "vitest/node"
import { start, waitForExit } from "./programs.ts"

declare module "vitest" {
  interface ProvidedContext {
    readonly sampleHome: string
  }
}

/** Makes and fills the home. Returns a function that removes it. */
export const provideSampleHome = async (project: TestProject) => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-sample-"))
  const ingest = start("larder-ingest", ["all"], { LARDER_HOME: home, LARDER_SOURCES: "sample" })
  const { code, stderr } = await waitForExit(ingest)
  if (code !== 0) throw new Error(`the bundled samples could not be ingested:\n${stderr}`)
  project.provide("sampleHome", home)
  return () => rmSync(home, { recursive: true, force: true })
}

/** Copies the home without the raw archive, which no server reads. */
export const copyHome = (sampleHome: string): string => {
  const home = mkdtempSync(path.join(tmpdir(), "larder-home-"))
  cpSync(path.join(sampleHome, "warehouse"), path.join(home, "warehouse"), {
    recursive: true,
    verbatimSymlinks: true
  })
  return home
}

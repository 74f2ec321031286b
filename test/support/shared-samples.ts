/**
 * Recorded payloads of the real sources, and small inputs after public reports, in a folder next to the repository. Tests
 * of absent ones count as skipped.
 */
import { existsSync } from "node:fs"
import path from "node:path"
import { describe, it } from "vitest"
import { repository } from "./repository.ts"

export type Source = "fdc" | "gov" | "storefront"

const shared = path.resolve(repository, "../shared")

const describeIn = (folder: string, name: string, tests: () => void) => {
  if (existsSync(folder)) return describe(name, tests)
  return describe.skip(`${name}, skipped because ${folder} is absent`, () => {
    it("has tests", () => {}) // some of its tests are made from the files
  })
}

export const samplesOf = (source: Source) => path.join(shared, "samples", source)

/** A group of tests that read the samples of a source. */
export const describeSamples = (source: Source, name: string, tests: () => void) =>
  describeIn(samplesOf(source), name, tests)

export const casesOf = (source: "foods" | "prices" | "stores") => path.join(shared, "cases", source)

/** A group of tests that read the cases of a source. */
export const describeCases = (source: "foods" | "prices" | "stores", name: string, tests: () => void) =>
  describeIn(casesOf(source), name, tests)

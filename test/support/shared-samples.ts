/** Recorded payloads of the real sources, and small inputs after public reports, in a folder next to the repository. */
import { existsSync } from "node:fs"
import path from "node:path"
import { describe, it } from "vitest"
import { repository } from "./repository.ts"

export type Source = "fdc" | "gov" | "storefront"

export const samplesOf = (source: Source) => path.resolve(repository, "../shared/samples", source)

/** A group of tests that read the samples of a source; an empty group if they are absent. */
export const describeSamples = (source: Source, name: string, tests: () => void) => {
  if (existsSync(samplesOf(source))) return describe(name, tests)
  return describe(`${name}: shared samples are absent`, () => {
    it("has no tests to run", () => {})
  })
}

export const casesOf = (source: "foods" | "prices" | "stores") => path.resolve(repository, "../shared/cases", source)

/** A group of tests that read the cases of a source; an empty group if they are absent. */
export const describeCases = (source: "foods" | "prices" | "stores", name: string, tests: () => void) => {
  if (existsSync(casesOf(source))) return describe(name, tests)
  return describe(`${name}: shared cases are absent`, () => {
    it("has no tests to run", () => {})
  })
}

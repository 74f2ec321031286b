/** Clients for the languages whose tools are there, generated, compiled and run. Python is in test/generated-clients. */
import { describe, it } from "vitest"
import { itCallsEverything } from "../generated-clients/calls-everything.ts"
import { go, java, lacking, rust } from "../generated-clients/toolchains.ts"
import { served } from "../support/api/served.ts"

const api = served()

for (const toolchain of [go, java, rust]) {
  const missing = lacking(toolchain)
  if (missing.length === 0) itCallsEverything(toolchain, api)
  else {
    describe(`a client for ${toolchain.language}`, () => {
      it.skip(`was not tested: ${missing.join(" and ")} is not installed here`, () => undefined)
    })
  }
}

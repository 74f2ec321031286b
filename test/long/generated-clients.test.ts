/** Clients for the languages whose tools are installed, generated, compiled and run. Python is in test/generated-clients. */
import { expect, it } from "vitest"
import { itCallsEverything } from "../generated-clients/calls-everything.ts"
import { go, java, listMissing, rust } from "../generated-clients/toolchains.ts"
import { useSharedServer } from "../support/api/server.ts"

const api = useSharedServer()

const toolchains = [go, java, rust]
const installed = toolchains.filter((toolchain) => listMissing(toolchain).length === 0)
for (const toolchain of toolchains.filter((toolchain) => !installed.includes(toolchain)))
  console.warn(`${toolchain.language} is not tested: ${listMissing(toolchain).join(" and ")} is not installed.`)

it("has the tools of at least one language", () => expect(installed).not.toEqual([]))
for (const toolchain of installed) itCallsEverything(toolchain, api)

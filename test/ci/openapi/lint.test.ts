/** Lints the OpenAPI document with Redocly's recommended rules. All its references are local, so nothing is fetched. */
import { openApi } from "@larder/schemas"
import { createConfig, lintFromString } from "@redocly/openapi-core"
import { expect, it } from "vitest"

const lint = async (document: object) => {
  const config = await createConfig({ extends: ["recommended"] })
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: "openapi.json", config })
  return problems.map(({ location, message, ruleId }) => `${ruleId}: ${message} ${location.map((at) => at.pointer)}`)
}

it("the OpenAPI document has no errors and no warnings by Redocly's recommended rules", async () => {
  expect(await lint(openApi())).toEqual([])
})

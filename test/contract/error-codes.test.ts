/** Every error code is explained in the docs, and returned for a request. */
import { readFileSync } from "node:fs"
import path from "node:path"
import { codeNames, type ErrorCode } from "@larder/schemas"
import { describe, expect, it } from "vitest"
import { expectErrorCode, type Reply } from "../support/api/check-response.ts"
import { bearer } from "../support/api/client.ts"
import { createKey, type KeySettings } from "../support/api/operator.ts"
import { sendRaw } from "../support/api/raw.ts"
import { useSharedServer } from "../support/api/server.ts"
import { repository } from "../support/repository.ts"

const api = useSharedServer()

type ErrorReply = Pick<Reply, "headers">
/** A request with this error; or the test that causes the error in another way; or the reason why no test does. */
type ErrorCase = (() => Promise<ErrorReply | undefined>) | { readonly testedIn: string } | { readonly untested: string }

const call = (target: string) => () => api.get(target)
const withKey = (settings: KeySettings, target: string) => async () => {
  const { key } = await createKey(api.home(), settings)
  return api.get(target, { key })
}
const sendLine = (requestLine: string, headers: ReadonlyArray<string>) => async () =>
  (await sendRaw(api.server().api, requestLine, headers))[0]
const post = (headers: Readonly<Record<string, string>>) => async () => {
  const response = await fetch(`${api.server().api}/mcp`, {
    method: "POST",
    body: "{",
    headers: { ...bearer(api.key().key), "content-type": "application/json", ...headers }
  })
  return { headers: Object.fromEntries(response.headers) }
}

const pipelineTest = { testedIn: "serve/api/pipeline.test.ts" }
const names = Array(101).fill("a").join()

const errorCases: Readonly<Record<ErrorCode, ErrorCase>> = {
  unreadable_request: sendLine("GET v1/commodities HTTP/1.1", ["Host: localhost"]),
  unencoded_address: sendLine("GET /v1/branded-foods?name=PIÑA HTTP/1.1", ["Host: localhost"]),
  unclear_host: sendLine("GET /v1/commodities HTTP/1.1", ["Host: a", "Host: b"]),
  headers_too_large: sendLine("GET /v1/commodities HTTP/1.1", ["Host: localhost", `X-Big: ${"x".repeat(17_000)}`]),
  request_timeout: { untested: "Node waits a minute for the headers, and tests do not wait" },
  no_such_endpoint: call("/v1/nothing"),
  method_not_allowed: sendLine("CONNECT localhost:80 HTTP/1.1", ["Host: localhost"]),
  oauth_not_supported: async () => {
    const response = await fetch(`${api.server().api}/register`, { method: "POST", body: "{}" })
    return { headers: Object.fromEntries(response.headers) }
  },
  origin_not_allowed: post({ origin: "https://shop.example" }),
  authorization_missing: () => api.get("/v1/stores", { key: undefined }),
  authorization_malformed: () => api.get("/v1/stores", { key: "malformed" }),
  unknown_key: () => api.get("/v1/stores", { key: `svc_data_${"0".repeat(64)}` }),
  account_suspended: { testedIn: "test/ledger/suspended-accounts.test.ts" },
  scope_missing: withKey({ scopes: ["get-store"] }, "/v1/stores"),
  unknown_parameter: call("/v1/stores?limt=1"),
  repeated_parameter: call("/v1/stores?limit=1&limit=1"),
  missing_parameter: call("/v1/commodities/prices"),
  invalid_parameter: call("/v1/stores?country=USA"),
  limit_too_large: call("/v1/commodities?limit=501"),
  too_many_names: call(`/v1/commodities/prices?series=${names}`),
  from_after_to: call("/v1/commodities/prices?series=a&from=2024-01-02&to=2024-01-01"),
  parameters_conflict: call("/v1/commodities?commodity=butter&limit=1"),
  cursor_damaged: call("/v1/stores?cursor=x"),
  unknown_series: call("/v1/commodities/prices?series=gold"),
  unknown_metrics: call("/v1/commodities/metric-values?metrics=gold"),
  answers_too_large: { testedIn: "test/mcp/http-responses.test.ts" },
  protocol_error: post({}),
  insufficient_balance: { testedIn: "test/contract/billing.test.ts" },
  monthly_spend_cap_reached: withKey({ budget: 0 }, "/v1/stores"),
  unknown_branded_food: call("/v1/branded-foods/none"),
  unknown_store: call("/v1/stores/none"),
  unknown_product: call("/v1/products/none"),
  internal: pipelineTest,
  overloaded: pipelineTest,
  too_many_in_flight: pipelineTest,
  ledger_unavailable: pipelineTest
}

describe("the codes of errors", () => {
  it.each(Object.entries(errorCases))("%s is returned for its request", async (code, errorCase) => {
    if (typeof errorCase === "function") {
      const reply = await errorCase()
      expectErrorCode(reply ?? { headers: {} }, code)
    } else if ("testedIn" in errorCase) {
      expect(readFileSync(path.join(repository, errorCase.testedIn), "utf8")).toContain(`"${code}"`)
    }
  })

  it("have a link that does not depend on the Host header", async () => {
    const { headers } = await api.get("/v1/stores?limt=1", { headers: { host: "evil.example" } })
    expect(headers.link).toBe('</docs/errors#unknown_parameter>; rel="help"')
  })

  it("are explained on the page that errors link to, each with an anchor", async () => {
    const page = await (await fetch(`${api.server().api}/docs/errors`)).text()
    const anchors = [...page.matchAll(/<h3 id="([^"]+)">/g)].map(([, id]) => id)
    expect(anchors).toEqual(codeNames)
  })

  it("are listed in the OpenAPI document, with Link, on every response except 200", () => {
    const { components, paths } = api.client().document
    expect(components.headers["X-Error-Code"]?.schema).toEqual({ type: "string", examples: codeNames })
    const responses = [
      ...Object.entries(components.responses),
      ...Object.values(paths).flatMap(({ get }) => Object.entries(get.responses))
    ]
    for (const [status, response] of responses) {
      if ("$ref" in response) continue
      const present = ["X-Error-Code", "Link"].filter((name) => name in response.headers)
      expect(present, status).toHaveLength(status === "200" ? 0 : 2)
    }
  })
})

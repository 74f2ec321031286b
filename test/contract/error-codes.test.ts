/** Every code of the closed list: it has its place in the docs, and a request that is answered with it. */
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

type Answered = Pick<Reply, "headers">
/** A request; or the test that provokes it with means that a request has not; or why no test does. */
type Provoked = (() => Promise<Answered | undefined>) | { readonly testedIn: string } | { readonly untested: string }

const get = (target: string) => () => api.get(target)
const withKey = (settings: KeySettings, target: string) => async () => {
  const { key } = await createKey(api.home(), settings)
  return api.get(target, { key })
}
const sent = (requestLine: string, headers: ReadonlyArray<string>) => async () =>
  (await sendRaw(api.server().api, requestLine, headers))[0]
const posted = (headers: Readonly<Record<string, string>>) => async () => {
  const response = await fetch(`${api.server().api}/mcp`, {
    method: "POST",
    body: "{",
    headers: { ...bearer(api.key().key), "content-type": "application/json", ...headers }
  })
  return { headers: Object.fromEntries(response.headers) }
}

const inThePipeline = { testedIn: "serve/api/pipeline.test.ts" }
const names = Array(101).fill("a").join()

const provoked: Readonly<Record<ErrorCode, Provoked>> = {
  unreadable_request: sent("GET v1/commodities HTTP/1.1", ["Host: localhost"]),
  unclear_host: sent("GET /v1/commodities HTTP/1.1", ["Host: a", "Host: b"]),
  headers_too_large: sent("GET /v1/commodities HTTP/1.1", ["Host: localhost", `X-Big: ${"x".repeat(17_000)}`]),
  request_timeout: { untested: "Node waits a minute for the headers, and tests do not wait" },
  no_such_endpoint: get("/v1/nothing"),
  method_not_allowed: sent("CONNECT localhost:80 HTTP/1.1", ["Host: localhost"]),
  origin_not_allowed: posted({ origin: "https://shop.example" }),
  authorization_missing: () => api.get("/v1/stores", { key: undefined }),
  authorization_malformed: () => api.get("/v1/stores", { key: "mumble" }),
  unknown_key: () => api.get("/v1/stores", { key: `svc_data_${"0".repeat(64)}` }),
  scope_missing: withKey({ scopes: ["get-store"] }, "/v1/stores"),
  unknown_parameter: get("/v1/stores?limt=1"),
  repeated_parameter: get("/v1/stores?limit=1&limit=1"),
  missing_parameter: get("/v1/commodities/prices"),
  invalid_parameter: get("/v1/stores?country=USA"),
  limit_too_large: get("/v1/commodities?limit=501"),
  too_many_names: get(`/v1/commodities/prices?series=${names}`),
  from_after_to: get("/v1/commodities/prices?series=a&from=2024-01-02&to=2024-01-01"),
  parameters_conflict: get("/v1/commodities?commodity=butter&limit=1"),
  cursor_damaged: get("/v1/stores?cursor=x"),
  unknown_series: get("/v1/commodities/prices?series=gold"),
  unknown_metrics: get("/v1/commodities/metric-values?metrics=gold"),
  answers_too_large: { testedIn: "test/mcp/http-answers.test.ts" },
  protocol_error: posted({}),
  insufficient_balance: { testedIn: "test/contract/billing.test.ts" },
  daily_spend_cap_reached: withKey({ daily_budget: 0 }, "/v1/stores"),
  weekly_spend_cap_reached: withKey({ weekly_budget: 0 }, "/v1/stores"),
  monthly_spend_cap_reached: withKey({ budget: 0 }, "/v1/stores"),
  unknown_branded_food: get("/v1/branded-foods/none"),
  unknown_store: get("/v1/stores/none"),
  unknown_product: get("/v1/products/none"),
  internal: inThePipeline,
  overloaded: inThePipeline,
  too_many_in_flight: inThePipeline,
  ledger_unavailable: inThePipeline
}

describe("the codes of errors", () => {
  it.each(Object.entries(provoked))("%s is the code of the answer to its request", async (code, how) => {
    if (typeof how === "function") {
      const reply = await how()
      expectErrorCode(reply ?? { headers: {} }, code)
    } else if ("testedIn" in how) {
      expect(readFileSync(path.join(repository, how.testedIn), "utf8")).toContain(`"${code}"`)
    }
  })

  it("come with a link that no Host header changes", async () => {
    const { headers } = await api.get("/v1/stores?limt=1", { headers: { host: "evil.example" } })
    expect(headers.link).toBe('</docs/errors#unknown_parameter>; rel="help"')
  })

  it("are explained on the page that errors link to, each at its own place", async () => {
    const page = await (await fetch(`${api.server().api}/docs/errors`)).text()
    const places = [...page.matchAll(/<h3 id="([^"]+)">/g)].map(([, id]) => id)
    expect(places).toEqual(codeNames)
  })

  it("are listed in the OpenAPI document, with Link beside them, on every answer other than 200", () => {
    const { components, paths } = api.client().document
    expect(components.headers["X-Error-Code"]?.schema).toEqual({ type: "string", examples: codeNames })
    const responses = [
      ...Object.entries(components.responses),
      ...Object.values(paths).flatMap(({ get }) => Object.entries(get.responses))
    ]
    for (const [status, response] of responses) {
      if ("$ref" in response) continue
      const has = ["X-Error-Code", "Link"].filter((name) => name in response.headers)
      expect(has, status).toHaveLength(status === "200" ? 0 : 2)
    }
  })
})

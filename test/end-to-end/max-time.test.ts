/** `--max-time` of a command that runs several pipelines, with the program and real servers. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { everyFeed } from "../support/pipelines/commodity-payloads.ts"
import { temporaryHome } from "../support/pipelines/live-commodities.ts"
import { startUpstream } from "../support/pipelines/upstream.ts"
import { run } from "../support/programs.ts"
import { startReceiver } from "../support/webhook-receiver.ts"

const report = "gov-mars/1603"

describe("larder-ingest all --max-time", () => {
  it.live(
    "ends the requests of all pipelines together: those whose turn has not come are left out, exit code 4, with a notice",
    () =>
      Effect.gen(function* () {
        const home = yield* temporaryHome
        const body = everyFeed()[report] ?? ""
        // responds to one report and to nothing else
        const upstream = yield* startUpstream((response, _, { url }) => {
          if (url.endsWith("/reports/1603")) response.writeHead(200, { "content-type": "application/json" }).end(body)
        })
        const receiver = yield* Effect.promise(() => startReceiver())
        const settings = {
          ...receiver.settings,
          LARDER_HOME: home,
          LARDER_SOURCES: "live",
          MARS_API_KEY: "0123456789",
          LARDER_MARS_URL: upstream.url,
          LARDER_DATAMART_URL: upstream.url,
          LARDER_FDC_URL: upstream.url
        }
        const { code, problems, stdout } = yield* Effect.promise(() =>
          run("larder-ingest", ["all", "--max-time", "2s", "--json"], settings)
        )
        assert.strictEqual(code, 4, problems)
        const printed = stdout
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
        const ends = new Map(printed.map(({ outcome, pipeline, problem }) => [pipeline, [outcome, problem]]))
        const problem = "the run had used its time (--max-time 2s)"
        assert.strictEqual(ends.get("commodities")?.[0], "partial")
        assert.deepStrictEqual(ends.get("branded-foods"), ["not_run", problem])
        assert.include(problems, `branded-foods is left out: ${problem}.`)
        assert.deepStrictEqual(
          receiver.received.map(({ data, type }) => [type, data.pipeline]),
          ["commodities", "branded-foods"].map((pipeline) => ["run.left_out", pipeline])
        )
        assert.include(receiver.received[1]?.text ?? "", `branded-foods is left out: ${problem}.`)
        assert.include(
          problems,
          "2 of 3 pipelines had problems: commodities left something out, branded-foods left something"
        )
        const paths = upstream.requests.map(({ url }) => url)
        assert.isTrue(
          paths.every((path) => path.startsWith("/services/")),
          paths.join("\n")
        )
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

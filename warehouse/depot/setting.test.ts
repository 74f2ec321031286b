import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { s3Service } from "@larder/test/support/depots/s3-service.ts"
import { itLive } from "@larder/test/support/it-live.ts"
import { ConfigProvider, Effect, Option, Redacted } from "effect"
import { configuredDepot } from "./setting.ts"

type Variables = Readonly<Record<string, string>>

const openDepot = (variables: Variables) =>
  configuredDepot.pipe(Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(variables))))
const keys = { AWS_ACCESS_KEY_ID: "larder", AWS_SECRET_ACCESS_KEY: "hush" }

describe("LARDER_DEPOT", () => {
  for (const [setting, location] of [
    ["", undefined],
    ["elsewhere", path.resolve("elsewhere")],
    ["s3://bucket", "s3://bucket"],
    ["s3://bucket/a/b/", "s3://bucket/a/b"],
    ["https://example.com/larder/", "https://example.com/larder"],
    ["https://user:geheim@example.com", "https://example.com"],
    ["http://localhost:8000/larder", "http://localhost:8000/larder"]
  ] as const) {
    itLive(`“${setting}” is ${location === undefined ? "no depot" : `the depot at ${location}`}`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* openDepot({ LARDER_DEPOT: setting, ...keys }))?.location, location)
      })
    )
  }
  itLive("means no shared depot if it is not set", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* openDepot({}), undefined)
    })
  )
  for (const [what, variables, message] of [
    [
      "an unsupported scheme",
      { LARDER_DEPOT: "gs://bucket" },
      "gs:// is not supported: a depot is s3://bucket/prefix, https://… or a folder"
    ],
    [
      "no bucket",
      { LARDER_DEPOT: "s3:///larder", ...keys },
      "s3:///larder names no bucket: write s3://bucket or s3://bucket/prefix"
    ],
    [
      "an empty part",
      { LARDER_DEPOT: "s3://bucket/a//b", ...keys },
      "s3://bucket/a//b has an empty part or dots in its prefix: use names such as s3://bucket/larder"
    ],
    [
      "no credentials",
      { LARDER_DEPOT: "s3://bucket", AWS_ACCESS_KEY_ID: "larder" },
      "s3://bucket needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    ],
    [
      "an endpoint without https://",
      { LARDER_DEPOT: "s3://bucket", ...keys, AWS_ENDPOINT_URL: "minio:9000" },
      "AWS_ENDPOINT_URL_S3 must be the address of a service, such as https://s3.example.com"
    ],
    [
      "http to another machine",
      { LARDER_DEPOT: "http://user:geheim@example.com/larder" },
      "http://example.com/larder must be https://…: others could modify the data in transit over http"
    ],
    [
      "a query",
      { LARDER_DEPOT: "https://example.com/larder?token=geheim" },
      "https://example.com/larder is followed by ? or #, which a depot cannot have"
    ],
    [
      "an unencoded % in a password",
      { LARDER_DEPOT: "https://user:100%@example.com" },
      "the user or the password of https://example.com is not percent-encoded: write % as %25"
    ],
    [
      "no address",
      { LARDER_DEPOT: "https://user:geheim@:1/" },
      "the depot is not a valid address; write % as %25 in the user and the password"
    ]
  ] as const) {
    itLive(`with ${what}, is rejected in one sentence`, () =>
      Effect.gen(function* () {
        assert.include((yield* Effect.flip(openDepot(variables))).message, message)
      })
    )
  }
  itLive("reads the usual variables, and prefers those for S3 to those for all of AWS", () =>
    Effect.gen(function* () {
      const { endpoint, names, settings } = yield* s3Service
      const depot = yield* openDepot({
        LARDER_DEPOT: `s3://${settings.bucket}/${settings.prefix}`,
        AWS_ACCESS_KEY_ID: settings.accessKeyId,
        AWS_SECRET_ACCESS_KEY: Redacted.value(settings.secretAccessKey),
        AWS_SESSION_TOKEN: "",
        AWS_REGION: "",
        AWS_DEFAULT_REGION: settings.region,
        AWS_ENDPOINT_URL_S3: `${endpoint}/`,
        AWS_ENDPOINT_URL: "https://elsewhere.example.com"
      })
      assert(depot !== undefined)
      yield* depot.putText("generations/000000001.json", "{}")
      assert.deepStrictEqual(names(), ["generations/000000001.json"])
      assert.deepStrictEqual(yield* depot.readText("generations/000000001.json"), Option.some("{}"))
    })
  )
})

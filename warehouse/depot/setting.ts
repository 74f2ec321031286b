/**
 * Chooses the depot by its name: `s3://bucket/prefix`, `https://…` or a folder. Buckets use the variables that other
 * programs use: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL_S3.
 * AWS profiles and instance roles are not supported.
 */
import path from "node:path"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { defaultOf, failSetting, isSafeInTransit } from "@larder/schemas"
import { Config, Effect, Layer, Option, Redacted } from "effect"
import type { HttpClient } from "effect/http/HttpClient"
import type { Depot } from "./depot.ts"
import { folderDepot } from "./folder.ts"

/** An empty variable counts as not set. */
const variable = (...names: ReadonlyArray<string>) =>
  Config.all(names.map((name) => Config.option(Config.Redacted(name)))).pipe(
    Config.map((values) => {
      const existing = values.filter(Option.isSome).map(({ value }) => value)
      return existing.find((value) => Redacted.value(value) !== "")
    })
  )
const plainVariable = (...names: ReadonlyArray<string>) =>
  Config.map(variable(...names), (value) => (value === undefined ? undefined : Redacted.value(value)))

const bucketSettings = Config.all({
  accessKeyId: plainVariable("AWS_ACCESS_KEY_ID"),
  secretAccessKey: variable("AWS_SECRET_ACCESS_KEY"),
  sessionToken: variable("AWS_SESSION_TOKEN"),
  region: Config.map(plainVariable("AWS_REGION", "AWS_DEFAULT_REGION"), (region) => region ?? defaultOf("AWS_REGION")),
  endpoint: plainVariable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
})

const openBucket = Effect.fnUntraced(function* (location: string) {
  const [, bucket, rest = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]+)(?:\/(.*))?$/.exec(location) ?? []
  const prefix = rest.replace(/\/+$/, "")
  if (bucket === undefined)
    return yield* failSetting(`${location} names no bucket: write s3://bucket or s3://bucket/prefix`)
  if (prefix.split("/").some((part) => /^\.{0,2}$/.test(part)) && prefix !== "") {
    return yield* failSetting(
      `${location} has an empty part or dots in its prefix: use names such as s3://${bucket}/larder`
    )
  }
  const { accessKeyId, endpoint, region, secretAccessKey, sessionToken } = yield* bucketSettings
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    return yield* failSetting(`${location} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`)
  }
  if (endpoint !== undefined && !/^https?:\/\/[^/@?#][^@?#]*$/.test(endpoint)) {
    return yield* failSetting("AWS_ENDPOINT_URL_S3 must be the address of a service, such as https://s3.example.com")
  }
  const { s3Depot } = yield* Effect.promise(() => import("./s3.ts")) // signing and the XML parser are loaded only for a bucket
  return yield* s3Depot({ bucket, prefix, region, endpoint, accessKeyId, secretAccessKey, sessionToken })
})

/** An address may contain a password: messages quote the address without it. */
const openAddress = Effect.fnUntraced(function* (location: string) {
  const url = URL.parse(location)
  if (url === null)
    return yield* failSetting("the depot is not a valid address; write % as %25 in the user and the password")
  const address = `${url.origin}${url.pathname}`.replace(/\/+$/, "")
  if (url.search !== "" || url.hash !== "")
    return yield* failSetting(`${address} is followed by ? or #, which a depot cannot have`)
  if (!isSafeInTransit(url)) {
    return yield* failSetting(`${address} must be https://…: others could modify the data in transit over http`)
  }
  const { httpDepot } = yield* Effect.promise(() => import("./http.ts"))
  const user = yield* Effect.try({
    try: () => ({ name: decodeURIComponent(url.username), password: Redacted.make(decodeURIComponent(url.password)) }),
    catch: () => undefined
  }).pipe(
    Effect.catch(() => failSetting(`the user or the password of ${address} is not percent-encoded: write % as %25`))
  )
  return yield* httpDepot({ address, user: url.username === "" ? undefined : user })
})

/** Makes no request yet. The client must be undici's, see `requests.ts`. */
const openDepot = (location: string): Effect.Effect<Depot, Config.ConfigError, HttpClient> => {
  if (location.startsWith("s3://")) return openBucket(location)
  if (/^https?:\/\//.test(location)) return openAddress(location)
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(location)?.[1]
  return scheme === undefined
    ? Effect.succeed(folderDepot(path.resolve(location)))
    : failSetting(`${scheme}:// is not supported: a depot is s3://bucket/prefix, https://… or a folder`)
}

/** The depot in LARDER_DEPOT, with an HTTP client until the scope ends; undefined if LARDER_DEPOT is not set. */
export const configuredDepot = Effect.gen(function* () {
  const location = yield* plainVariable("LARDER_DEPOT")
  if (location === undefined) return undefined
  const client = yield* Layer.build(NodeHttpClient.layerUndici)
  return yield* Effect.provide(openDepot(location), client)
})

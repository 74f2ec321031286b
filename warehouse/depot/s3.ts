/**
 * A depot in a bucket of an S3 service. `If-None-Match: *` decides which program is first. If the response is lost, the
 * retry fails because the name exists. So the text is read back: a program that finds its own text was first. Texts
 * that can race must differ, as manifests do by their ids. `prove-depot.ts` detects services that ignore the condition.
 */
import { createHash } from "node:crypto"
import { AwsV4Signer } from "aws4fetch"
import { Clock, Effect, Option, Redacted, Stream } from "effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { Depot, ObjectId } from "./depot.ts"
import { type DepotResponse, makeRequests, missingObject, RequestFailed, toDepotError, withRetry } from "./requests.ts"
import { isMissingObject, parseListing, toRequestFailed } from "./s3-responses.ts"

export interface Bucket {
  readonly bucket: string
  /** Before every name; may be empty. */
  readonly prefix: string
  readonly region: string
  /** Address of a service other than AWS. */
  readonly endpoint: string | undefined
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted
  readonly sessionToken: Redacted.Redacted | undefined
}

/** In bytes: what S3 accepts in one PUT. */
const maxObjectSize = 5 * 2 ** 30

const hashText = (text: string) => createHash("sha256").update(text).digest("hex")
const emptyHash = hashText("")

/** Other services address a bucket by path. So does AWS for a name with a dot, which its certificate does not cover. */
const addressOf = ({ bucket, endpoint, region }: Bucket) => {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, "")}/${bucket}`
  return bucket.includes(".")
    ? `https://s3.${region}.amazonaws.com/${bucket}`
    : `https://${bucket}.s3.${region}.amazonaws.com`
}

const isOk = (status: number) => status >= 200 && status < 300

const invalidPage = new RequestFailed({
  problem: "the response is not a page of ListObjectsV2",
  advice: "Check that the address belongs to an S3 service.",
  is_retryable: true
})

export const s3Depot = Effect.fnUntraced(function* (settings: Bucket) {
  const { bucket, endpoint, prefix, region } = settings
  const { fetchBytes, fetchText } = yield* makeRequests
  const address = addressOf(settings)
  const keyOf = (name: string) => (prefix === "" ? name : `${prefix}/${name}`)
  const urlOf = (name: string) => `${address}/${keyOf(name).split("/").map(encodeURIComponent).join("/")}`
  const location = `s3://${[bucket, prefix].filter((part) => part !== "").join("/")}`
  const locationWithEndpoint = endpoint === undefined ? location : `${location} at ${endpoint}`
  const cache = new Map<string, ArrayBuffer>() // signing keys, each derived for a day and a region

  const signRequest = (
    method: "GET" | "HEAD" | "PUT" | "DELETE",
    url: string,
    headers: Readonly<Record<string, string>> = {},
    sha256 = emptyHash
  ): Effect.Effect<HttpClientRequest.HttpClientRequest> =>
    Effect.gen(function* () {
      const now = new Date(yield* Clock.currentTimeMillis).toISOString()
      const signer = new AwsV4Signer({
        method,
        url,
        headers: { ...headers, "x-amz-content-sha256": sha256 },
        accessKeyId: settings.accessKeyId,
        secretAccessKey: Redacted.value(settings.secretAccessKey),
        ...(settings.sessionToken === undefined ? {} : { sessionToken: Redacted.value(settings.sessionToken) }),
        service: "s3",
        region,
        cache,
        datetime: now.replace(/[:-]|\.\d{3}/g, "")
      })
      const signed = yield* Effect.promise(() => signer.sign())
      return HttpClientRequest.make(method)(url, { headers: Object.fromEntries(signed.headers) })
    })

  const fail = (response: DepotResponse) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(toRequestFailed(response, { bucket, region, now })))
  const requireOk = (response: DepotResponse) => (isOk(response.status) ? Effect.succeed(response) : fail(response))
  const mapError = (operation: string) => Effect.mapError(toDepotError(`${operation} in ${locationWithEndpoint}`))

  const get = (name: string) =>
    Effect.flatMap(fetchText(signRequest("GET", urlOf(name))), (response) =>
      isMissingObject(response)
        ? Effect.succeedNone
        : Effect.asSome(Effect.map(requireOk(response), ({ text }) => text))
    )

  const put = (name: string, text: string, headers: Readonly<Record<string, string>>) => {
    const request = signRequest("PUT", urlOf(name), headers, hashText(text))
    return Effect.flatMap(
      fetchText(Effect.map(request, HttpClientRequest.bodyText(text, "application/json"))),
      requireOk
    )
  }

  /** After an inconclusive response: whether `text` is stored. If nothing is stored, the failure remains. */
  const isOwn = (name: string, text: string) => (failure: RequestFailed) =>
    Effect.flatMap(
      get(name),
      Option.match({ onNone: () => Effect.fail(failure), onSome: (stored) => Effect.succeed(stored === text) })
    )

  const putText: Depot["putText"] = (name, text) =>
    put(name, text, { "if-none-match": "*" }).pipe(
      Effect.as(true),
      Effect.catchIf(({ is_retryable }) => is_retryable, isOwn(name, text)),
      withRetry,
      mapError(`write ${name}`)
    )

  const putHint: Depot["putHint"] = (name, text) =>
    put(name, text, {}).pipe(withRetry, Effect.asVoid, mapError(`write ${name}`))

  const readText: Depot["readText"] = (name) => get(name).pipe(withRetry, mapError(`read ${name}`))

  /** Undefined if there is no such object. The response to HEAD has no body, so a GET gets the reason of an error. */
  const readLength = Effect.fnUntraced(function* (name: string) {
    const response = yield* fetchText(signRequest("HEAD", urlOf(name)))
    if (response.status === 404) return undefined
    if (isOk(response.status)) return Number(response.headers["content-length"])
    yield* Effect.flatMap(fetchText(signRequest("GET", urlOf(name), { range: "bytes=0-0" })), requireOk)
    return yield* fail(response)
  })

  const requireMaxSize = ({ bytes }: ObjectId) =>
    bytes <= maxObjectSize
      ? Effect.void
      : Effect.fail(
          new RequestFailed({
            problem: `the file has ${bytes} bytes, and S3 accepts 5 GB at once`,
            advice: "Use a depot in a folder, or publish less in one data set.",
            is_retryable: false
          })
        )
  /** The service compares the SHA-256 with the bytes that arrive. */
  const send = (name: string, { bytes, sha256 }: ObjectId, file: string, headers: Readonly<Record<string, string>>) =>
    Effect.flatMap(fetchText(signRequest("PUT", urlOf(name), headers, sha256), { file, bytes }), requireOk)

  const putFile: Depot["putFile"] = (name, object, file) =>
    Effect.gen(function* () {
      yield* requireMaxSize(object)
      const length = yield* readLength(name)
      if (length === object.bytes) return
      yield* send(name, object, file, length === undefined ? { "if-none-match": "*" } : {}) // an incomplete object is replaced
    }).pipe(withRetry, mapError(`store ${name}`))

  const readBytes: Depot["readBytes"] = (name, from) => {
    const failRead = (response: DepotResponse) =>
      isMissingObject(response) ? Effect.fail(missingObject) : fail(response)
    return Stream.mapError(
      fetchBytes((range) => signRequest("GET", urlOf(name), range), from, failRead),
      toDepotError(`read ${name} in ${locationWithEndpoint}`)
    )
  }

  const fetchPage = (query: Readonly<Record<string, string>>) => {
    const parameters = Object.entries({ "list-type": "2", "encoding-type": "url", ...query })
    const search = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")
    return Effect.flatMap(fetchText(signRequest("GET", `${address}?${search}`)), requireOk).pipe(
      Effect.map(parseListing),
      Effect.filterOrFail(
        (page) => page !== undefined,
        () => invalidPage
      ),
      withRetry
    )
  }

  /** Sorted by name. */
  const fetchEntries = Effect.fnUntraced(function* (namePrefix: string, after: string) {
    const query = { prefix: keyOf(namePrefix), ...(after === "" ? {} : { "start-after": keyOf(after) }) }
    const found: Array<{ readonly name: string; readonly modified: number }> = []
    let token: string | undefined
    do {
      const { entries, next } = yield* fetchPage(
        token === undefined ? query : { ...query, "continuation-token": token }
      )
      for (const { key, modified } of entries) found.push({ name: key.slice(keyOf("").length), modified })
      if (next !== undefined && next === token) return yield* invalidPage
      token = next
    } while (token !== undefined)
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  })

  const list: Depot["list"] = (namePrefix, after = "") =>
    fetchEntries(namePrefix, after).pipe(
      Effect.map((entries) => entries.map(({ name }) => name).filter((name) => name > after)),
      mapError(`list ${namePrefix}`)
    )

  const listTimes: Depot["listTimes"] = (folder) =>
    fetchEntries(folder, "").pipe(
      Effect.map((entries) => new Map(entries.map(({ modified, name }) => [name, modified]))),
      mapError(`list ${folder}`)
    )

  const remove: Depot["remove"] = (names) =>
    Effect.forEach(
      names,
      (name) =>
        withRetry(
          Effect.flatMap(fetchText(signRequest("DELETE", urlOf(name))), (response) =>
            isMissingObject(response) ? Effect.void : Effect.asVoid(requireOk(response))
          )
        ),
      { concurrency: 8, discard: true }
    ).pipe(mapError("remove outdated files"))

  const removeUnfinished = () => Effect.void // an interrupted PUT leaves nothing
  const depot: Depot = {
    location,
    putText,
    readText,
    putHint,
    putFile,
    readBytes,
    list,
    listTimes,
    remove,
    removeUnfinished
  }
  return depot
})

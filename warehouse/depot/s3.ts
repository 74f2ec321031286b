/**
 * A depot in a bucket of an S3 service. `If-None-Match: *` decides which program is first, but its answer is not final.
 * If the answer is lost, the retry is told that the name is taken. So the text is read back, and a program that finds
 * its own text was first. Texts that can race must differ, as manifests do by their ids. `proven.ts` detects services
 * that ignore the condition.
 */
import { createHash } from "node:crypto"
import { AwsV4Signer } from "aws4fetch"
import { Clock, Effect, Option, Redacted, Stream } from "effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { Depot, ObjectId } from "./depot.ts"
import { type Answer, again, makeRequests, RequestFailed, trying } from "./requests.ts"
import { codeOf, pageOf, refusalOf } from "./s3-answers.ts"

export interface Bucket {
  readonly bucket: string
  /** In front of every name; may be empty. */
  readonly prefix: string
  readonly region: string
  /** Address of a service other than AWS. */
  readonly endpoint: string | undefined
  readonly accessKeyId: string
  readonly secretAccessKey: Redacted.Redacted
  readonly sessionToken: Redacted.Redacted | undefined
}

/** The largest object that S3 takes in one PUT. */
const largestObject = 5 * 2 ** 30

const sha256Of = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex")
const ofNothing = sha256Of("")

/** Other services address a bucket by path. So does AWS for one with a dot, which its certificate does not cover. */
const addressOf = ({ bucket, endpoint, region }: Bucket) => {
  if (endpoint !== undefined) return `${endpoint.replace(/\/+$/, "")}/${bucket}`
  return bucket.includes(".")
    ? `https://s3.${region}.amazonaws.com/${bucket}`
    : `https://${bucket}.s3.${region}.amazonaws.com`
}

const isOk = (status: number) => status >= 200 && status < 300

const absent = new RequestFailed({
  problem: "it does not exist",
  advice: "If its generation has been removed, use a newer one.",
  may_pass: false
})

const noPage = new RequestFailed({
  problem: "the answer is not a page of ListObjectsV2",
  advice: "Check that the address is that of an S3 service.",
  may_pass: true
})

export const s3Depot = Effect.fnUntraced(function* (given: Bucket) {
  const { bucket, prefix, region } = given
  const { ask, bytes: bytesOf } = yield* makeRequests
  const address = addressOf(given)
  const keyOf = (name: string) => (prefix === "" ? name : `${prefix}/${name}`)
  const at = (name: string) => `${address}/${keyOf(name).split("/").map(encodeURIComponent).join("/")}`
  const location = `s3://${[bucket, prefix].filter((part) => part !== "").join("/")}`
  const where = given.endpoint === undefined ? location : `${location} at ${given.endpoint}`
  const cache = new Map<string, ArrayBuffer>() // signing keys, each derived for a day and a region

  type Method = "GET" | "HEAD" | "PUT" | "DELETE"
  const signed = (
    method: Method,
    url: string,
    headers: Readonly<Record<string, string>> = {},
    sha256 = ofNothing
  ): Effect.Effect<HttpClientRequest.HttpClientRequest> =>
    Effect.gen(function* () {
      const now = new Date(yield* Clock.currentTimeMillis).toISOString()
      const signer = new AwsV4Signer({
        method,
        url,
        headers: { ...headers, "x-amz-content-sha256": sha256 },
        accessKeyId: given.accessKeyId,
        secretAccessKey: Redacted.value(given.secretAccessKey),
        ...(given.sessionToken === undefined ? {} : { sessionToken: Redacted.value(given.sessionToken) }),
        service: "s3",
        region,
        cache,
        datetime: now.replace(/[:-]|\.\d{3}/g, "")
      })
      const { headers: all } = yield* Effect.promise(() => signer.sign())
      return HttpClientRequest.make(method)(url, { headers: Object.fromEntries(all) })
    })

  const refused = (answer: Answer) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(refusalOf(answer, { bucket, region, now })))
  const ifOk = (answer: Answer) => (isOk(answer.status) ? Effect.succeed(answer) : refused(answer))
  /** Without this code, the bucket or the user may be missing instead. */
  const isAbsent = (answer: Answer) => answer.status === 404 && codeOf(answer) === "NoSuchKey"
  const failed = (what: string) => Effect.mapError(trying(`${what} in ${where}`))

  const get = (name: string) =>
    Effect.flatMap(ask(signed("GET", at(name))), (answer) =>
      isAbsent(answer) ? Effect.succeedNone : Effect.asSome(Effect.map(ifOk(answer), ({ text }) => text))
    )

  const put = (name: string, text: string, headers: Readonly<Record<string, string>>) => {
    const request = signed("PUT", at(name), headers, sha256Of(text))
    return Effect.flatMap(ask(Effect.map(request, HttpClientRequest.bodyText(text, "application/json"))), ifOk)
  }

  /**
   * Whether the stored text is `text`, after an answer that does not decide it. If nothing is stored, the failure
   * stands.
   */
  const isOwn = (name: string, text: string) => (failure: RequestFailed) =>
    Effect.flatMap(
      get(name),
      Option.match({ onNone: () => Effect.fail(failure), onSome: (kept) => Effect.succeed(kept === text) })
    )

  const putText: Depot["putText"] = (name, text) =>
    put(name, text, { "if-none-match": "*" }).pipe(
      Effect.as(true),
      Effect.catchIf(({ may_pass }) => may_pass, isOwn(name, text)),
      again,
      failed(`write ${name}`)
    )

  const putHint: Depot["putHint"] = (name, text) =>
    put(name, text, {}).pipe(again, Effect.asVoid, failed(`write ${name}`))

  const text: Depot["text"] = (name) => get(name).pipe(again, failed(`read ${name}`))

  /**
   * The length of the stored object; undefined if there is none. The answer to HEAD has no body, so a GET finds out why
   * it is refused.
   */
  const lengthOf = Effect.fnUntraced(function* (name: string) {
    const answer = yield* ask(signed("HEAD", at(name)))
    if (answer.status === 404) return undefined
    if (isOk(answer.status)) return Number(answer.headers["content-length"])
    yield* Effect.flatMap(ask(signed("GET", at(name), { range: "bytes=0-0" })), ifOk)
    return yield* refused(answer)
  })

  const requireSendable = ({ bytes }: ObjectId) =>
    bytes <= largestObject
      ? Effect.void
      : Effect.fail(
          new RequestFailed({
            problem: `the file has ${bytes} bytes, and S3 takes 5 GB at once`,
            advice: "Use a depot in a folder, or publish less in one data set.",
            may_pass: false
          })
        )
  /** The service compares the SHA-256 with the bytes that arrive. */
  const send = (name: string, { bytes, sha256 }: ObjectId, file: string, headers: Readonly<Record<string, string>>) =>
    Effect.flatMap(ask(signed("PUT", at(name), headers, sha256), { file, bytes }), ifOk)

  const putFile: Depot["putFile"] = (name, object, file) =>
    Effect.gen(function* () {
      yield* requireSendable(object)
      const kept = yield* lengthOf(name)
      if (kept === object.bytes) return
      yield* send(name, object, file, kept === undefined ? { "if-none-match": "*" } : {}) // an incomplete object is replaced
    }).pipe(again, failed(`keep ${name}`))

  const replaceFile: Depot["replaceFile"] = (name, object, file) =>
    requireSendable(object).pipe(
      Effect.andThen(send(name, object, file, {})),
      again,
      Effect.asVoid,
      failed(`write ${name}`)
    )

  const bytes: Depot["bytes"] = (name, from) => {
    const refusal = (answer: Answer) => (isAbsent(answer) ? Effect.fail(absent) : refused(answer))
    return Stream.mapError(
      bytesOf((range) => signed("GET", at(name), range), from, refusal),
      trying(`read ${name} in ${where}`)
    )
  }

  const page = (query: Readonly<Record<string, string>>) => {
    const parameters = Object.entries({ "list-type": "2", "encoding-type": "url", ...query })
    const search = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")
    return Effect.flatMap(ask(signed("GET", `${address}?${search}`)), ifOk).pipe(
      Effect.flatMap((answer) =>
        Option.match(pageOf(answer), { onNone: () => Effect.fail(noPage), onSome: Effect.succeed })
      ),
      again
    )
  }

  /** Sorted by name. */
  const entriesOf = Effect.fnUntraced(function* (names: string, after: string) {
    const query = { prefix: keyOf(names), ...(after === "" ? {} : { "start-after": keyOf(after) }) }
    const found: Array<{ readonly name: string; readonly modified: number }> = []
    let next: string | undefined
    do {
      const { entries, next: token } = yield* page(
        next === undefined ? query : { ...query, "continuation-token": next }
      )
      for (const { key, modified } of entries) found.push({ name: key.slice(keyOf("").length), modified })
      if (token !== undefined && token === next) return yield* noPage
      next = token
    } while (next !== undefined)
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  })

  const list: Depot["list"] = (names, after = "") =>
    entriesOf(names, after).pipe(
      Effect.map((entries) => entries.map(({ name }) => name).filter((name) => name > after)),
      failed(`list ${names}`)
    )

  const dated: Depot["dated"] = (folder) =>
    entriesOf(folder, "").pipe(
      Effect.map((entries) => new Map(entries.map(({ modified, name }) => [name, modified]))),
      failed(`list ${folder}`)
    )

  const remove: Depot["remove"] = (names) =>
    Effect.forEach(
      names,
      (name) =>
        again(
          Effect.flatMap(ask(signed("DELETE", at(name))), (answer) =>
            isAbsent(answer) ? Effect.void : Effect.asVoid(ifOk(answer))
          )
        ),
      { concurrency: 8, discard: true }
    ).pipe(failed("remove what is old"))

  /** A PUT that is cut off leaves nothing behind. */
  const sweep: Depot["sweep"] = () => Effect.void

  const depot: Depot = {
    location,
    putText,
    putHint,
    text,
    putFile,
    replaceFile,
    bytes,
    list,
    dated,
    remove,
    sweep
  }
  return depot
})

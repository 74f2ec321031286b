/**
 * A small S3 service on the loopback interface, with the features that a depot requires: signatures, `If-None-Match`,
 * `Range`, pages of ListObjectsV2, and DELETE. It has one bucket in memory, which is public for reading. Writes require a
 * signature. Tests can plan mishaps.
 */
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout } from "node:timers/promises"
import { Effect, Redacted } from "effect"
import { accessKeyId, findFault, region, secretAccessKey, sha256Of } from "./s3-signature.ts"

const bucket = "depot"
/** Contains characters that must be encoded in addresses, signatures and listings. */
const prefix = "who's + where/larder"

/** A fault that happens to a request. */
export type Mishap =
  /** The request has no effect, and this is the response. */
  | {
      readonly kind: "refuse"
      readonly status: number
      readonly code: string
      readonly headers?: Record<string, string>
    }
  /** The request takes effect, but this is the response. */
  | { readonly kind: "misreport"; readonly status: number; readonly code: string }
  /** The connection is dropped before or after the request takes effect, or in the middle of the response. */
  | { readonly kind: "drop"; readonly when: "before" | "after" | "half-way" }
  /** The request has no effect and gets no response, or the response stops after its first half. */
  | { readonly kind: "stall"; readonly when: "before" | "half-way" }
  /** One byte of the received or the sent body is changed. */
  | { readonly kind: "damage" }
  /** The service ignores ranges, or sends another range. */
  | { readonly kind: "range"; readonly sent: "all" | "another" }

interface Plan {
  readonly method: string
  readonly mishap: Mishap
  times: number
}

interface StoredObject {
  readonly bytes: Buffer
  readonly modified: string
}

const bytesOf = async (request: IncomingMessage) => {
  const pieces: Array<Buffer> = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces)
}

const damage = (bytes: Buffer) => {
  const copy = Buffer.from(bytes)
  copy[copy.length >> 1] = (copy[copy.length >> 1] ?? 0) ^ 1
  return copy
}

const encodeUrl = (key: string) => encodeURIComponent(key).replaceAll("%2F", "/").replaceAll("%20", "+")

const errorText = (code: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>The service says ${code}.</Message></Error>`

const statusOf = (fault: string) => (fault === "AuthorizationHeaderMalformed" ? 400 : 403)

const makeService = () => {
  const objects = new Map<string, StoredObject>()
  const plans: Array<Plan> = []
  const requests: Array<string> = []
  const state = {
    /** How the service applies `If-None-Match: *`. */
    conditions: "applied" as "applied" | "ignored" | "applied to sequential requests",
    pageLength: 1000,
    /** Not every service encodes names on request. */
    encodesNames: true,
    /** Whether requests get no response and have no effect: a program that sends one waits until it is killed. */
    isStalled: () => false,
    /** Each listing is truncated at this position, which is counted from its end if it is negative. */
    listingEndsAt: Number.POSITIVE_INFINITY
  }

  const takePlan = (method: string): Mishap | undefined => {
    const plan = plans.find((candidate) => candidate.method === method && candidate.times > 0)
    if (plan === undefined) return undefined
    plan.times -= 1
    return plan.mishap
  }

  const respond = (
    response: ServerResponse,
    status: number,
    body: string | Buffer = "",
    headers: Record<string, string> = {}
  ) => response.writeHead(status, { "content-length": String(Buffer.byteLength(body)), ...headers }).end(body)
  const refuse = (response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}) =>
    respond(response, status, errorText(code), { "content-type": "application/xml", ...headers })

  const list = (query: URLSearchParams) => {
    const after = query.get("continuation-token") ?? query.get("start-after") ?? ""
    const keys = [...objects.keys()].filter((key) => key.startsWith(query.get("prefix") ?? "") && key > after).sort()
    const page = keys.slice(0, state.pageLength)
    const last = page.at(-1) ?? ""
    const isTruncated = page.length < keys.length
    const entries = page.map((key) => {
      const { bytes, modified } = objects.get(key) ?? {}
      const shown = state.encodesNames ? encodeUrl(key) : key.replace(/[&<>'"]/g, (char) => `&#${char.charCodeAt(0)};`)
      return `<Contents><Key>${shown}</Key><LastModified>${modified}</LastModified><Size>${bytes?.length}</Size></Contents>`
    })
    const next = isTruncated ? `<NextContinuationToken>${last}</NextContinuationToken>` : ""
    return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket}</Name><EncodingType>${state.encodesNames ? "url" : ""}</EncodingType><KeyCount>${page.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>${next}${entries.join("")}</ListBucketResult>`
  }

  const put = async (key: string, request: IncomingMessage, bytes: Buffer): Promise<readonly [number, string]> => {
    if (sha256Of(bytes) !== request.headers["x-amz-content-sha256"]) return [400, "XAmzContentSHA256Mismatch"]
    const isConditional = request.headers["if-none-match"] === "*" && state.conditions !== "ignored"
    if (isConditional && objects.has(key)) return [412, "PreconditionFailed"]
    if (state.conditions === "applied to sequential requests") await setTimeout(2) // like a service that first checks and then writes
    objects.set(key, { bytes, modified: new Date().toISOString() })
    return [200, ""]
  }

  const get = (key: string, request: IncomingMessage, response: ServerResponse, mishap: Mishap | undefined) => {
    const found = objects.get(key)
    if (found === undefined) return refuse(response, 404, "NoSuchKey")
    const bytes = mishap?.kind === "damage" ? damage(found.bytes) : found.bytes
    const total = bytes.length
    const requested = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "")
    const isRange = requested !== null && !(mishap?.kind === "range" && mishap.sent === "all")
    const from = isRange ? Number(requested[1]) + (mishap?.kind === "range" ? 1 : 0) : 0
    if (from >= total && from > 0) return refuse(response, 416, "InvalidRange", { "content-range": `bytes */${total}` })
    const sent = bytes.subarray(from, requested?.[2] ? Number(requested[2]) + 1 : total)
    const range = { "content-range": `bytes ${from}-${from + sent.length - 1}/${total}` }
    if ((mishap?.kind === "drop" || mishap?.kind === "stall") && mishap.when === "half-way") {
      response.writeHead(isRange ? 206 : 200, { "content-length": String(sent.length), ...(isRange ? range : {}) })
      return response.write(sent.subarray(0, sent.length >> 1), () => mishap.kind === "stall" || response.destroy())
    }
    return respond(response, isRange ? 206 : 200, sent, isRange ? range : {})
  }

  /** Handles a valid request. */
  const perform = async (
    url: URL,
    key: string,
    request: IncomingMessage,
    response: ServerResponse,
    mishap: Mishap | undefined
  ) => {
    const arrived = await bytesOf(request)
    switch (request.method) {
      case "PUT": {
        const [status, code] = await put(key, request, mishap?.kind === "damage" ? damage(arrived) : arrived)
        return mishap?.kind === "drop" || (status === 200 ? respond(response, 200) : refuse(response, status, code))
      }
      case "DELETE":
        objects.delete(key)
        return mishap?.kind === "drop" || respond(response, 204)
      default:
        if (key === "")
          return respond(response, 200, list(url.searchParams).slice(0, state.listingEndsAt), {
            "content-type": "application/xml"
          })
        return get(key, request, response, mishap)
    }
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "" } = request
    const url = new URL(request.url ?? "", `http://${request.headers.host}`)
    const [, named, ...rest] = url.pathname.split("/").map(decodeURIComponent)
    const key = rest.join("/")
    requests.push(`${method} ${key}`)
    if (state.isStalled()) return undefined
    const isPublicRead = request.headers.authorization === undefined && ["GET", "HEAD"].includes(method) && key !== ""
    const fault = isPublicRead ? undefined : findFault(request, url)
    if (fault !== undefined) return refuse(response, statusOf(fault), fault, { "x-amz-bucket-region": region })
    if (named !== bucket) return refuse(response, 404, "NoSuchBucket")
    const mishap = takePlan(method)
    if (mishap?.kind === "stall" && mishap.when === "before") return undefined
    if (mishap?.kind === "drop" && mishap.when === "before") return response.destroy()
    if (mishap?.kind === "refuse") return refuse(response, mishap.status, mishap.code, mishap.headers)
    if (mishap?.kind === "misreport") {
      await put(key, request, await bytesOf(request))
      return refuse(response, mishap.status, mishap.code)
    }
    await perform(url, key, request, response, mishap)
    return mishap?.kind === "drop" && mishap.when === "after" ? response.destroy() : response
  }

  return {
    state,
    objects,
    requests,
    handle,
    plan: (method: string, mishap: Mishap, times = 1) => plans.push({ method, mishap, times }),
    /** Cancels the planned mishaps. */
    recover: () => plans.splice(0)
  }
}

/** The service is closed with the scope. */
export const s3Service = Effect.acquireRelease(
  Effect.promise(async () => {
    const { handle, objects, plan, recover, requests, state } = makeService()
    const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()))
    await once(server.listen(0, "127.0.0.1"), "listening")
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    /** The settings for `s3Depot`. */
    const settings = {
      ...{ bucket, prefix, region, endpoint, accessKeyId },
      secretAccessKey: Redacted.make(secretAccessKey),
      sessionToken: undefined
    }
    /** The public address for reading. */
    const address = `${endpoint}/${bucket}/${prefix.split("/").map(encodeURIComponent).join("/")}`
    const keyOf = (name: string) => `${prefix}/${name}`
    /** Names that exist in the depot. */
    const names = () => [...objects.keys()].map((key) => key.slice(prefix.length + 1)).sort()
    return { server, endpoint, settings, address, keyOf, names, objects, plan, recover, requests, state }
  }),
  ({ server }) =>
    Effect.promise(async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    })
)

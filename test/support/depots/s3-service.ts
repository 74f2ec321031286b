/**
 * A small S3 service on the loopback, with what a depot needs of it: signatures, `If-None-Match`, `Range`, ListObjectsV2 in pages,
 * DELETE. One bucket, kept in memory, that everybody may read and who signs may change. Mishaps can be planned.
 */
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout } from "node:timers/promises"
import { Effect, Redacted } from "effect"
import { accessKeyId, faultOf, region, secretAccessKey, sha256Of } from "./s3-signature.ts"

const bucket = "depot"
/** With what has to be encoded in addresses, signatures and listings. */
const prefix = "who's + where/larder"

/** What becomes of a request. */
export type Mishap =
  /** Nothing happens, and this is the answer. */
  | {
      readonly kind: "refuse"
      readonly status: number
      readonly code: string
      readonly headers?: Record<string, string>
    }
  /** It happens, and this is the answer. */
  | { readonly kind: "misreport"; readonly status: number; readonly code: string }
  /** The connection is cut: before it happens, after it, or in the middle of the answer. */
  | { readonly kind: "cut"; readonly when: "before" | "after" | "half-way" }
  /** Nothing happens, and no answer comes; or its first half, and then nothing. */
  | { readonly kind: "stall"; readonly when: "before" | "half-way" }
  /** One byte of what arrives, or of what is sent, is another one. */
  | { readonly kind: "damage" }
  /** Ranges are unknown, or others are sent. */
  | { readonly kind: "range"; readonly sent: "all" | "another" }

interface Plan {
  readonly method: string
  readonly mishap: Mishap
  times: number
}

interface Kept {
  readonly bytes: Buffer
  readonly modified: string
}

const bytesOf = async (request: IncomingMessage) => {
  const pieces: Array<Buffer> = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces)
}

const damaged = (bytes: Buffer) => {
  const copy = Buffer.from(bytes)
  copy[copy.length >> 1] = (copy[copy.length >> 1] ?? 0) ^ 1
  return copy
}

const urlEncoded = (key: string) => encodeURIComponent(key).replaceAll("%2F", "/").replaceAll("%20", "+")

const errorText = (code: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>The service says ${code}.</Message></Error>`

const statusOf = (fault: string) => (fault === "AuthorizationHeaderMalformed" ? 400 : 403)

const makeService = () => {
  const kept = new Map<string, Kept>()
  const plans: Array<Plan> = []
  const seen: Array<string> = []
  const state = {
    /** How `If-None-Match: *` is taken. */
    conditions: "held" as "held" | "ignored" | "held one after the other",
    pageLength: 1000,
    /** Not every service encodes as it is asked to. */
    listsEncoded: true,
    /** Requests that nothing comes of, not even an answer: a program that made one waits there until it is killed. */
    holds: () => false,
    /** Of each listing only so much is sent, or all but so much. */
    listingEndsAt: Number.POSITIVE_INFINITY
  }

  const takePlan = (method: string): Mishap | undefined => {
    const plan = plans.find((one) => one.method === method && one.times > 0)
    if (plan === undefined) return undefined
    plan.times -= 1
    return plan.mishap
  }

  const answer = (
    response: ServerResponse,
    status: number,
    body: string | Buffer = "",
    headers: Record<string, string> = {}
  ) => response.writeHead(status, { "content-length": String(Buffer.byteLength(body)), ...headers }).end(body)
  const refuse = (response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}) =>
    answer(response, status, errorText(code), { "content-type": "application/xml", ...headers })

  const list = (query: URLSearchParams) => {
    const after = query.get("continuation-token") ?? query.get("start-after") ?? ""
    const keys = [...kept.keys()].filter((key) => key.startsWith(query.get("prefix") ?? "") && key > after).sort()
    const page = keys.slice(0, state.pageLength)
    const last = page.at(-1) ?? ""
    const isTruncated = page.length < keys.length
    const entries = page.map((key) => {
      const { bytes, modified } = kept.get(key) ?? {}
      const shown = state.listsEncoded ? urlEncoded(key) : key.replace(/[&<>'"]/g, (char) => `&#${char.charCodeAt(0)};`)
      return `<Contents><Key>${shown}</Key><LastModified>${modified}</LastModified><Size>${bytes?.length}</Size></Contents>`
    })
    const next = isTruncated ? `<NextContinuationToken>${last}</NextContinuationToken>` : ""
    return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${bucket}</Name><EncodingType>${state.listsEncoded ? "url" : ""}</EncodingType><KeyCount>${page.length}</KeyCount><IsTruncated>${isTruncated}</IsTruncated>${next}${entries.join("")}</ListBucketResult>`
  }

  const put = async (key: string, request: IncomingMessage, bytes: Buffer): Promise<readonly [number, string]> => {
    if (sha256Of(bytes) !== request.headers["x-amz-content-sha256"]) return [400, "XAmzContentSHA256Mismatch"]
    const isConditional = request.headers["if-none-match"] === "*" && state.conditions !== "ignored"
    if (isConditional && kept.has(key)) return [412, "PreconditionFailed"]
    if (state.conditions === "held one after the other") await setTimeout(2) // as a service that looks first, and then writes
    kept.set(key, { bytes, modified: new Date().toISOString() })
    return [200, ""]
  }

  const get = (key: string, request: IncomingMessage, response: ServerResponse, mishap: Mishap | undefined) => {
    const found = kept.get(key)
    if (found === undefined) return refuse(response, 404, "NoSuchKey")
    const bytes = mishap?.kind === "damage" ? damaged(found.bytes) : found.bytes
    const total = bytes.length
    const asked = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? "")
    const isRange = asked !== null && !(mishap?.kind === "range" && mishap.sent === "all")
    const from = isRange ? Number(asked[1]) + (mishap?.kind === "range" ? 1 : 0) : 0
    if (from >= total && from > 0) return refuse(response, 416, "InvalidRange", { "content-range": `bytes */${total}` })
    const sent = bytes.subarray(from, asked?.[2] ? Number(asked[2]) + 1 : total)
    const range = { "content-range": `bytes ${from}-${from + sent.length - 1}/${total}` }
    if ((mishap?.kind === "cut" || mishap?.kind === "stall") && mishap.when === "half-way") {
      response.writeHead(isRange ? 206 : 200, { "content-length": String(sent.length), ...(isRange ? range : {}) })
      return response.write(sent.subarray(0, sent.length >> 1), () => mishap.kind === "stall" || response.destroy())
    }
    return answer(response, isRange ? 206 : 200, sent, isRange ? range : {})
  }

  /** What an undisturbed service does. */
  const act = async (
    url: URL,
    key: string,
    request: IncomingMessage,
    response: ServerResponse,
    mishap: Mishap | undefined
  ) => {
    const arrived = await bytesOf(request)
    switch (request.method) {
      case "PUT": {
        const [status, code] = await put(key, request, mishap?.kind === "damage" ? damaged(arrived) : arrived)
        return mishap?.kind === "cut" || (status === 200 ? answer(response, 200) : refuse(response, status, code))
      }
      case "DELETE":
        kept.delete(key)
        return mishap?.kind === "cut" || answer(response, 204)
      default:
        if (key === "")
          return answer(response, 200, list(url.searchParams).slice(0, state.listingEndsAt), {
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
    seen.push(`${method} ${key}`)
    if (state.holds()) return undefined
    const mayReadOnly = request.headers.authorization === undefined && ["GET", "HEAD"].includes(method) && key !== ""
    const fault = mayReadOnly ? undefined : faultOf(request, url)
    if (fault !== undefined) return refuse(response, statusOf(fault), fault, { "x-amz-bucket-region": region })
    if (named !== bucket) return refuse(response, 404, "NoSuchBucket")
    const mishap = takePlan(method)
    if (mishap?.kind === "stall" && mishap.when === "before") return undefined
    if (mishap?.kind === "cut" && mishap.when === "before") return response.destroy()
    if (mishap?.kind === "refuse") return refuse(response, mishap.status, mishap.code, mishap.headers)
    if (mishap?.kind === "misreport") {
      await put(key, request, await bytesOf(request))
      return refuse(response, mishap.status, mishap.code)
    }
    await act(url, key, request, response, mishap)
    return mishap?.kind === "cut" && mishap.when === "after" ? response.destroy() : response
  }

  return {
    state,
    kept,
    seen,
    handle,
    plan: (method: string, mishap: Mishap, times = 1) => plans.push({ method, mishap, times }),
    /** Forgets the mishaps that are planned. */
    recover: () => plans.splice(0)
  }
}

/** Closed with the scope. */
export const s3Service = Effect.acquireRelease(
  Effect.promise(async () => {
    const { handle, kept, plan, recover, seen, state } = makeService()
    const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()))
    await once(server.listen(0, "127.0.0.1"), "listening")
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    /** What `s3Depot` takes. */
    const settings = {
      ...{ bucket, prefix, region, endpoint, accessKeyId },
      secretAccessKey: Redacted.make(secretAccessKey),
      sessionToken: undefined
    }
    /** Where everybody reads. */
    const address = `${endpoint}/${bucket}/${prefix.split("/").map(encodeURIComponent).join("/")}`
    const keyOf = (name: string) => `${prefix}/${name}`
    /** Names of the depot that are there. */
    const names = () => [...kept.keys()].map((key) => key.slice(prefix.length + 1)).sort()
    return { server, endpoint, settings, address, keyOf, names, kept, plan, recover, seen, state }
  }),
  ({ server }) =>
    Effect.promise(async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    })
)

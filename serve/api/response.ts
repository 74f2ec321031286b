/** Builds and sends responses, large ones in pieces, so that a client that stops reading delays no other account. */
import { randomBytes } from "node:crypto"
import { availableParallelism } from "node:os"
import type { ApiError, ErrorCode } from "@larder/schemas"
import type { H3Event } from "h3"
import { FastResponse } from "srvx"
import { type Bytes, type Coding, chooseCoding, compress, minCompressedBytes, type SharedBody } from "./encoding.ts"
import { chunkBytes, type Limiter, largeBytes, type Permit } from "./fairness/limiter.ts"
import { makeSlots } from "./fairness/slots.ts"
import type { Provenance } from "./read-model.ts"

type Headers = Readonly<Record<string, string>>

export interface ApiResponse {
  readonly status: number
  readonly body: string
  readonly headers: Headers
  /** Released when the response is sent; undefined for a response that needs none. */
  readonly permit?: Permit | undefined
}

const processId = randomBytes(9).toString("hex")
let requestCount = 0

/** Unique and cheap: a random string of this process and a counter. */
export const newRequestId = (): string => `req_${processId}${(++requestCount).toString(36).padStart(6, "0")}`

const exposedHeaders =
  "X-Request-Id, X-Data-Version, X-Data-Origin, X-Credits-Charged, X-Credits-Remaining, X-Error-Code, Link, Retry-After"

export const makeResponse = (
  requestId: string,
  status: number,
  body: string,
  extraHeaders: Headers | undefined
): ApiResponse => ({
  status,
  body,
  headers: {
    "content-type": "application/json",
    "cache-control": "private, no-store",
    "x-request-id": requestId,
    "access-control-allow-origin": "*",
    "access-control-expose-headers": exposedHeaders,
    ...extraHeaders
  }
})

export const errorBody = ({ message, type }: ApiError): string => JSON.stringify({ error: { type, message } })

/** Without a public address the link is relative. It is never built from `Host`, which the caller controls. */
export const errorHeaders = (code: ErrorCode, publicUrl: string | undefined): Headers => ({
  "x-error-code": code,
  link: `<${publicUrl ?? ""}/docs/errors#${code}>; rel="help"`
})

export const makeErrorResponse = (
  requestId: string,
  error: ApiError,
  publicUrl: string | undefined,
  extraHeaders: Headers | undefined
): ApiResponse =>
  makeResponse(requestId, error.status, errorBody(error), {
    ...errorHeaders(error.code, publicUrl),
    ...(error.status === 401 && { "www-authenticate": "Bearer" }),
    ...(error.status === 503 && { "retry-after": "1" }),
    ...extraHeaders
  })

/** `current` is the id of the generation, for a data set that is not loaded. */
export const dataHeaders = ({ generation, origin }: Provenance, current: string): Headers => ({
  "x-data-version": generation ?? current,
  "x-data-origin": origin
})

/** Callers without a key count as this account. */
const anonymous = ""

const releaseWhenSent = ({ runtime }: H3Event, permit: Permit | undefined) => {
  if (permit === undefined) return
  const node = runtime?.node?.res
  if (node === undefined || node.closed || node.destroyed) permit.release()
  else node.once("close", permit.release)
}

export const makeSender = ({ step }: Limiter) => {
  /** Limits concurrent compressions; one core stays free. */
  const compressionSlots = makeSlots(Math.max(1, availableParallelism() - 1))

  const streamInPieces = (body: Bytes, account: string): ReadableStream<Bytes> => {
    let sent = 0
    return new ReadableStream<Bytes>(
      {
        pull: async (controller) => {
          if (sent % largeBytes === 0) await step(account, "send")
          controller.enqueue(body.subarray(sent, sent + chunkBytes))
          sent += chunkBytes
          if (sent >= body.length) controller.close()
        }
      },
      { highWaterMark: 0 }
    )
  }

  /** Large bodies wait for a slot, accounts round robin. Small ones take less than a millisecond and do not wait. */
  const compressFairly = async (body: Bytes, coding: Coding, account: string, signal: AbortSignal) => {
    if (body.length <= largeBytes) return compress(body, coding)
    if (!(await compressionSlots.acquire(account, { signal }))) return undefined // the caller disconnected
    return compress(body, coding).finally(compressionSlots.release)
  }

  const toHttp = ({ headers, status }: ApiResponse, bytes: Bytes, coding: Coding | undefined, account: string) => {
    const vary = headers.vary === undefined ? "Accept-Encoding" : `${headers.vary}, Accept-Encoding`
    const encoding = coding === undefined ? {} : { "content-encoding": coding }
    return new FastResponse(bytes.length <= largeBytes ? bytes : streamInPieces(bytes, account), {
      status,
      headers: { ...headers, vary, ...encoding, "content-length": String(bytes.length) }
    })
  }

  const respondCompressed = async (event: H3Event, response: ApiResponse) => {
    const { body, permit } = response
    try {
      const account = permit?.account ?? anonymous
      const coding = chooseCoding(event.req.headers.get("accept-encoding"))
      const plain = Buffer.from(body)
      permit?.setBytes(body.length + plain.length)
      // if compression fails, the plain body is sent: the call is already paid for
      const compressed =
        coding && (await compressFairly(plain, coding, account, event.req.signal).catch(() => undefined))
      const bytes = compressed ?? plain
      permit?.setBytes(bytes.length)
      return toHttp(response, bytes, compressed && coding, account)
    } finally {
      releaseWhenSent(event, permit) // until here the response is in memory, even if the caller has disconnected
    }
  }

  return {
    respond: (event: H3Event, response: ApiResponse): Response | Promise<Response> => {
      const { body, headers, status, permit } = response
      if (body.length >= minCompressedBytes) return respondCompressed(event, response)
      releaseWhenSent(event, permit)
      return new FastResponse(body, { status, headers }) // adds the content length
    },
    respondShared: async (event: H3Event, body: SharedBody, response: ApiResponse): Promise<Response> => {
      const { bytes, coding } = await body.encode(event.req.headers.get("accept-encoding"))
      return toHttp(response, bytes, coding, anonymous)
    }
  }
}

export type Sender = ReturnType<typeof makeSender>

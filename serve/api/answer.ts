/** An answer and how it is sent: large ones in pieces, so that a client that stops reading delays no other account. */
import { randomBytes } from "node:crypto"
import { availableParallelism } from "node:os"
import type { ApiError, ErrorCode } from "@larder/schemas"
import { type H3Event, HTTPResponse } from "h3"
import { type Bytes, type Coding, chooseCoding, compress, minCompressedBytes, type SharedBody } from "./encoding.ts"
import { makeSlots } from "./fairness/slots.ts"
import { chunkBytes, largeBytes, type Turn, type Turns } from "./fairness/turns.ts"
import type { Provenance } from "./read-model.ts"

type Headers = Readonly<Record<string, string>>

export interface Answer {
  readonly status: number
  readonly body: string
  readonly headers: Headers
  /** Ended when the answer is sent; undefined if the answer has no turn. */
  readonly turn?: Turn | undefined
}

const processId = randomBytes(9).toString("hex")
let requestCount = 0

/** Unique and cheap: a random text of this process and a counter. */
export const newRequestId = (): string => `req_${processId}${(++requestCount).toString(36).padStart(6, "0")}`

const exposedHeaders =
  "X-Request-Id, X-Data-Version, X-Data-Origin, X-Credits-Charged, X-Credits-Remaining, X-Error-Code, Link, Retry-After"

export const makeAnswer = (requestId: string, status: number, body: string, more: Headers | undefined): Answer => ({
  status,
  body,
  headers: {
    "content-type": "application/json",
    "cache-control": "private, no-store",
    "x-request-id": requestId,
    "access-control-allow-origin": "*",
    "access-control-expose-headers": exposedHeaders,
    ...more
  }
})

export const errorBody = ({ message, type }: ApiError): string => JSON.stringify({ error: { type, message } })

/** The link is relative without a public address, and never built from `Host`, which the caller controls. */
export const errorHeaders = (code: ErrorCode, publicUrl: string | undefined): Headers => ({
  "x-error-code": code,
  link: `<${publicUrl ?? ""}/docs/errors#${code}>; rel="help"`
})

export const errorAnswer = (
  requestId: string,
  error: ApiError,
  publicUrl: string | undefined,
  more: Headers | undefined
): Answer =>
  makeAnswer(requestId, error.status, errorBody(error), {
    ...errorHeaders(error.code, publicUrl),
    ...(error.status === 401 && { "www-authenticate": "Bearer" }),
    ...(error.status === 503 && { "retry-after": "1" }),
    ...more
  })

/** `current` is the generation that answers. */
export const dataHeaders = ({ generation, origin }: Provenance, current: string): Headers => ({
  "x-data-version": generation ?? current,
  "x-data-origin": origin
})

/** Callers without a key share the turns of this account. */
const anonymous = ""

const endTurnWith = ({ runtime }: H3Event, turn: Turn | undefined) => {
  if (turn === undefined) return
  const response = runtime?.node?.res
  if (response === undefined || response.closed || response.destroyed) turn.end()
  else response.once("close", turn.end)
}

export const makeSending = ({ step }: Turns) => {
  /** Limits concurrent compressions; one core stays free. */
  const compressionSlots = makeSlots(Math.max(1, availableParallelism() - 1))

  const streamInPieces = (body: Bytes, account: string): ReadableStream<Bytes> => {
    let sent = 0
    return new ReadableStream<Bytes>(
      {
        pull: async (controller) => {
          if (sent % largeBytes === 0) await step(account)
          controller.enqueue(body.subarray(sent, sent + chunkBytes))
          sent += chunkBytes
          if (sent >= body.length) controller.close()
        }
      },
      { highWaterMark: 0 }
    )
  }

  /** Large bodies wait for a slot, accounts round robin. Small ones take less than a millisecond and do not wait. */
  const compressInTurn = async (body: Bytes, coding: Coding, account: string, signal: AbortSignal) => {
    if (body.length <= largeBytes) return compress(body, coding)
    if (!(await compressionSlots.acquire(account, signal))) return undefined // the caller disconnected
    return compress(body, coding).finally(compressionSlots.release)
  }

  const buildResponse = ({ headers, status }: Answer, bytes: Bytes, coding: Coding | undefined, account: string) => {
    const vary = headers.vary === undefined ? "Accept-Encoding" : `${headers.vary}, Accept-Encoding`
    const encoding = coding === undefined ? {} : { "content-encoding": coding }
    return new HTTPResponse(bytes.length <= largeBytes ? bytes : streamInPieces(bytes, account), {
      status,
      headers: { ...headers, vary, ...encoding, "content-length": String(bytes.length) }
    })
  }

  const respondCompressed = async (event: H3Event, answer: Answer) => {
    const { body, turn } = answer
    const account = turn?.account ?? anonymous
    const coding = chooseCoding(event.req.headers.get("accept-encoding"))
    const plain = Buffer.from(body)
    turn?.setBytes(body.length + plain.length)
    // if compression fails, the plain body is sent: the call is already paid for
    const compressed = coding && (await compressInTurn(plain, coding, account, event.req.signal).catch(() => undefined))
    const bytes = compressed ?? plain
    turn?.setBytes(bytes.length)
    return buildResponse(answer, bytes, compressed && coding, account)
  }

  return {
    respond: async (event: H3Event, answer: Answer): Promise<HTTPResponse> => {
      const { body, headers, status, turn } = answer
      try {
        if (body.length >= minCompressedBytes) return await respondCompressed(event, answer)
        const length = { "content-length": String(Buffer.byteLength(body)) }
        return new HTTPResponse(body, { status, headers: { ...headers, ...length } })
      } finally {
        endTurnWith(event, turn) // not earlier: until here the answer is in memory, even if the caller has disconnected
      }
    },
    respondShared: async (event: H3Event, body: SharedBody, answer: Answer): Promise<HTTPResponse> => {
      const { bytes, coding } = await body.encode(event.req.headers.get("accept-encoding"))
      return buildResponse(answer, bytes, coding, anonymous)
    }
  }
}

export type Sending = ReturnType<typeof makeSending>

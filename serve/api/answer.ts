/**
 * An answer: its request id, its headers, the shape of errors, and how it is sent. A large answer is sent in pieces. A
 * piece is sent when the one before was taken and the caller's account has its turn on the event loop. A reader that
 * stops reading delays no other account.
 */
import { randomBytes } from "node:crypto"
import { availableParallelism } from "node:os"
import type { ApiError, ErrorCode } from "@larder/schemas"
import { type H3Event, HTTPResponse } from "h3"
import { type Bytes, type Coding, codingFor, compress, type SharedBody, smallestCompressed } from "./encoding.ts"
import { makeSlots } from "./fairness/slots.ts"
import { chunkBytes, largeBytes, type Turn, type Turns } from "./fairness/turns.ts"
import type { Provenance } from "./read-model.ts"

type Headers = Readonly<Record<string, string>>

export interface Answer {
  readonly status: number
  /** JSON text. */
  readonly body: string
  readonly headers: Headers
  /** Ended when the answer is sent; undefined if the answer holds no turn. */
  readonly turn?: Turn | undefined
}

const ofThisProcess = randomBytes(9).toString("hex")
let number = 0

/** Never repeats, and is cheap: a random text of this process and a counter. */
export const newRequestId = (): string => `req_${ofThisProcess}${(++number).toString(36).padStart(6, "0")}`

const exposed =
  "X-Request-Id, X-Data-Version, X-Data-Origin, X-Credits-Charged, X-Credits-Remaining, X-Error-Code, Link, Retry-After"

export const answerOf = (requestId: string, status: number, body: string, more: Headers | undefined): Answer => ({
  status,
  body,
  headers: {
    "content-type": "application/json",
    "cache-control": "private, no-store",
    "x-request-id": requestId,
    "access-control-allow-origin": "*",
    "access-control-expose-headers": exposed,
    ...more
  }
})

export const errorBody = ({ message, type }: ApiError): string => JSON.stringify({ error: { type, message } })

/**
 * The error code, and a link to its explanation in the docs. Without a public address, the link is relative to the
 * address that was called. It is never built from the `Host` header, which the caller controls.
 */
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
  answerOf(requestId, error.status, errorBody(error), {
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

/** Callers without a key share the turns of one account. */
const visitors = ""

/** Ends the turn after the last write to the socket, or when the connection is lost. */
const endWith = ({ runtime }: H3Event, turn: Turn | undefined) => {
  if (turn === undefined) return
  const response = runtime?.node?.res
  if (response === undefined || response.closed || response.destroyed) turn.end()
  else response.once("close", turn.end)
}

export const makeSending = ({ step }: Turns) => {
  /** Limits concurrent compressions; one core stays free. */
  const compressing = makeSlots(Math.max(1, availableParallelism() - 1))

  const inPieces = (body: Bytes, account: string): ReadableStream<Bytes> => {
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

  /** Large bodies wait for a slot, accounts round robin; small ones take less than a millisecond and never wait. */
  const compressInTurn = async (body: Bytes, coding: Coding, account: string, signal: AbortSignal) => {
    if (body.length <= largeBytes) return compress(body, coding)
    if (!(await compressing.acquire(account, signal))) return undefined // the caller disconnected
    return compress(body, coding).finally(compressing.release)
  }

  const withBody = ({ headers, status }: Answer, bytes: Bytes, coding: Coding | undefined, account: string) => {
    const vary = headers.vary === undefined ? "Accept-Encoding" : `${headers.vary}, Accept-Encoding`
    const encoding = coding === undefined ? {} : { "content-encoding": coding }
    return new HTTPResponse(bytes.length <= largeBytes ? bytes : inPieces(bytes, account), {
      status,
      headers: { ...headers, vary, ...encoding, "content-length": String(bytes.length) }
    })
  }

  const encoded = async (event: H3Event, answer: Answer) => {
    const { body, turn } = answer
    const account = turn?.account ?? visitors
    const coding = codingFor(event.req.headers.get("accept-encoding"))
    const plain = Buffer.from(body)
    turn?.holds(body.length + plain.length)
    // if compression fails, the plain body is sent: the call is already paid for
    const packed = coding && (await compressInTurn(plain, coding, account, event.req.signal).catch(() => undefined))
    const bytes = packed ?? plain
    turn?.holds(bytes.length)
    return withBody(answer, bytes, packed && coding, account)
  }

  return {
    respond: async (event: H3Event, answer: Answer): Promise<HTTPResponse> => {
      const { body, headers, status, turn } = answer
      try {
        if (body.length >= smallestCompressed) return await encoded(event, answer)
        const length = { "content-length": String(Buffer.byteLength(body)) }
        return new HTTPResponse(body, { status, headers: { ...headers, ...length } })
      } finally {
        endWith(event, turn) // not earlier: until here the answer is in memory, even after the caller disconnected
      }
    },
    /** The same for a body shared by all callers. */
    respondShared: async (event: H3Event, body: SharedBody, answer: Answer): Promise<HTTPResponse> => {
      const { bytes, coding } = await body.for(event.req.headers.get("accept-encoding"))
      return withBody(answer, bytes, coding, visitors)
    }
  }
}

export type Sending = ReturnType<typeof makeSending>

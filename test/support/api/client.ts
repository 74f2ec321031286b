/**
 * How tests call the API: over plain HTTP, without the normalisation that `fetch` does. Every response is checked; a
 * client also records every charge that a response states.
 */
import { Agent, type OutgoingHttpHeaders, request } from "node:http"
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib"
import { openApi } from "@larder/schemas"
import type { OpenApiDocument } from "@larder/schemas/openapi.ts"
import { makeResponseCheck, type Reply, type ResponseCheck } from "./check-response.ts"

export interface Options {
  readonly method?: string
  /** Undefined sends no Authorization header. */
  readonly key?: string | undefined
  readonly headers?: OutgoingHttpHeaders
}

/** The charge that a 200 states. */
export interface Charge {
  readonly request_id: string
  readonly credits: number
  /** Path of the endpoint, with `{id}`. */
  readonly endpoint: string
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

/** Makes one request. `target` is sent unchanged in the request line. */
const exchange = (agent: Agent | false, api: string, target: string, options: Options): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api)
    const { headers = {}, key, method = "GET" } = options
    const outgoing = { ...(key !== undefined && bearer(key)), ...headers }
    const sent = request(
      { agent, hostname: hostname.replace(/^\[|\]$/g, ""), port, path: target, method, headers: outgoing },
      (response) => {
        const pieces: Array<Buffer> = []
        response.on("data", (piece: Buffer) => pieces.push(piece))
        response.on("error", reject)
        response.on("end", () => {
          const text = decompress(Buffer.concat(pieces), response.headers["content-encoding"])
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parseJson(text) })
        })
      }
    )
    sent.on("error", (error: NodeJS.ErrnoException) => {
      // a server that stops closes idle connections, sometimes just as one is reused: it has read nothing
      if (sent.reusedSocket && error.code === "ECONNRESET") resolve(exchange(agent, api, target, options))
      else reject(error)
    })
    sent.end()
  })

const decompress = (body: Buffer, coding: string | undefined): string => {
  if (coding === "gzip") return gunzipSync(body).toString()
  if (coding === "br") return brotliDecompressSync(body).toString()
  if (coding === "zstd") return zstdDecompressSync(body).toString()
  return body.toString()
}

const parseJson = (text: string): unknown => (text === "" ? undefined : JSON.parse(text))

/** One check for all servers with the same document: making one takes longer than many calls. */
const checks = new Map<string, ResponseCheck>()
const findCheck = (document: OpenApiDocument): ResponseCheck => {
  const text = JSON.stringify(document)
  const check = checks.get(text) ?? makeResponseCheck(document)
  checks.set(text, check)
  return check
}

/** For the document in the schemas, which the server serves. */
let schemasCheck: ResponseCheck | undefined

/** Makes one checked request. */
export const send = async (agent: Agent | false, api: string, target: string, options: Options): Promise<Reply> => {
  const reply = await exchange(agent, api, target, options)
  schemasCheck ??= findCheck(openApi())
  schemasCheck.check(options.method ?? "GET", removeQuery(target), reply)
  return reply
}

/** Makes one checked request on a separate connection. */
export const sendOnce = (api: string, target: string, options: Options = {}): Promise<Reply> =>
  send(false, api, target, options)

const removeQuery = (target: string) => target.split("?", 1)[0] ?? ""

export const makeClient = async (api: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const document = (await exchange(agent, api, "/openapi.json", {})).json as OpenApiDocument
  const check = findCheck(document)
  const charges: Array<Charge> = []

  /** Checks a response that was received in any way, and records the charge that it states. */
  const checkAndRecord = (method: string, target: string, reply: Reply): Reply => {
    const path = removeQuery(target)
    check.check(method, path, reply)
    const found = check.findOperation(path)
    if (reply.status === 200 && found !== undefined) {
      charges.push({
        request_id: String(reply.headers["x-request-id"]),
        credits: found.operation["x-credits"],
        endpoint: found.template
      })
    }
    return reply
  }

  const call = async (target: string, options: Options = {}): Promise<Reply> =>
    checkAndRecord(options.method ?? "GET", target, await exchange(agent, api, target, options))
  return { document, charges, checkAndRecord, call, close: () => agent.destroy() }
}

export type Client = Awaited<ReturnType<typeof makeClient>>

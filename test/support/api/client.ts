/**
 * The one way in which tests call the API: over HTTP as it stands on the wire, without the normalisation that a browser's
 * `fetch` does. Every answer is judged; a client also remembers every charge that was announced.
 */
import { Agent, type OutgoingHttpHeaders, request } from "node:http"
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib"
import { type OpenApiDocument, openApi } from "@larder/schemas"
import { type Judge, makeJudge, type Reply } from "./judge.ts"

export interface Options {
  readonly method?: string
  /** Undefined sends no Authorization header. */
  readonly key?: string | undefined
  readonly headers?: OutgoingHttpHeaders
}

/** What a 200 says that it cost. */
export interface Charge {
  readonly request_id: string
  readonly credits: number
  /** Path of the endpoint as the list of endpoints has it. */
  readonly endpoint: string
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

/** One request. `target` goes into the request line as it is. */
const exchange = (agent: Agent | false, api: string, target: string, options: Options): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api)
    const { headers = {}, key, method = "GET" } = options
    const outgoing = { ...(key !== undefined && bearer(key)), ...headers }
    const sent = request({ agent, hostname, port, path: target, method, headers: outgoing }, (response) => {
      const pieces: Array<Buffer> = []
      response.on("data", (piece: Buffer) => pieces.push(piece))
      response.on("error", reject)
      response.on("end", () => {
        const text = decoded(Buffer.concat(pieces), response.headers["content-encoding"])
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: jsonOf(text) })
      })
    })
    sent.on("error", (error: NodeJS.ErrnoException) => {
      // The server closes connections that were idle for five seconds, sometimes just as one is used again: it has read nothing.
      if (sent.reusedSocket && error.code === "ECONNRESET") resolve(exchange(agent, api, target, options))
      else reject(error)
    })
    sent.end()
  })

const decoded = (body: Buffer, coding: string | undefined): string => {
  if (coding === "gzip") return gunzipSync(body).toString()
  if (coding === "br") return brotliDecompressSync(body).toString()
  if (coding === "zstd") return zstdDecompressSync(body).toString()
  return body.toString()
}

const jsonOf = (text: string): unknown => (text === "" ? undefined : JSON.parse(text))

/** One for all servers with the same document: to make one takes longer than many calls. */
const judges = new Map<string, Judge>()
const judgeBy = (document: OpenApiDocument): Judge => {
  const text = JSON.stringify(document)
  const judge = judges.get(text) ?? makeJudge(document)
  judges.set(text, judge)
  return judge
}

/** By the document of the schemas, which is the one that is served. */
let ofSchemas: Judge | undefined

/** One judged request. */
export const send = async (agent: Agent | false, api: string, target: string, options: Options): Promise<Reply> => {
  const reply = await exchange(agent, api, target, options)
  ofSchemas ??= judgeBy(openApi())
  ofSchemas.judge(options.method ?? "GET", pathOf(target), reply)
  return reply
}

/** One judged request on a connection of its own. */
export const ask = (api: string, target: string, options: Options = {}): Promise<Reply> =>
  send(false, api, target, options)

const pathOf = (target: string) => target.split("?", 1)[0] ?? ""

export const makeClient = async (api: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const document = (await exchange(agent, api, "/openapi.json", {})).json as OpenApiDocument
  const judge = judgeBy(document)
  const charges: Array<Charge> = []

  /** Judges an answer that came over HTTP by whatever way, and remembers what it announced as charged. */
  const witness = (method: string, target: string, reply: Reply): Reply => {
    const path = pathOf(target)
    judge.judge(method, path, reply)
    const found = judge.operationOf(path)
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
    witness(options.method ?? "GET", target, await exchange(agent, api, target, options))
  return { document, charges, witness, call, close: () => agent.destroy() }
}

export type Client = Awaited<ReturnType<typeof makeClient>>

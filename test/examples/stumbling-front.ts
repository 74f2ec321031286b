/**
 * Stands before the API like a proxy that stumbles: the first call of each caller is answered with 503, the rest reach the
 * API and are judged like all others. And one that has nothing.
 */
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import type { Client } from "../support/api/client.ts"

const unavailable = JSON.stringify({ error: { type: "internal", message: "An unexpected error occurred" } })

const listening = async (listener: RequestListener) => {
  const server = createServer(listener)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** An API that is well, and has no rows at all. */
export const barrenApi = async () => {
  const { server, url } = await listening((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end('{"data":[],"next_cursor":null}')
  })
  return { url, close: () => server.close() }
}

export const stumblingFront = async (client: Client) => {
  let asked: Array<string> = []
  const { server, url } = await listening(async (request, response) => {
    const target = request.url ?? "/"
    const { authorization = "" } = request.headers
    asked.push(target)
    if (asked.length === 1) {
      response.writeHead(503, { "content-type": "application/json", "retry-after": "1" }).end(unavailable)
      return
    }
    const reply = await client.call(target, { headers: { authorization } })
    const { connection: _, "transfer-encoding": __, ...headers } = reply.headers
    response.writeHead(reply.status, headers).end(reply.text)
  })
  return {
    url,
    /** What was asked since the last time. The next call stumbles. */
    takeAsked: (): ReadonlyArray<string> => {
      const taken = asked
      asked = []
      return taken
    },
    close: () => server.close()
  }
}

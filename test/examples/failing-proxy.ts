/**
 * A proxy in front of the API that fails once: the first call of each caller gets 503, the others reach the API, and their
 * responses are checked. Also an API without rows.
 */
import { once } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import type { Client } from "../support/api/client.ts"

const unavailable = JSON.stringify({ error: { type: "internal", message: "An unexpected error occurred" } })

const listen = async (listener: RequestListener) => {
  const server = createServer(listener)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Starts an API without rows. */
export const startEmptyApi = async () => {
  const { server, url } = await listen((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end('{"data":[],"next_cursor":null}')
  })
  return { url, close: () => server.close() }
}

export const startFailingProxy = async (client: Client) => {
  let requests: Array<string> = []
  const { server, url } = await listen(async (request, response) => {
    const target = request.url ?? "/"
    const { authorization = "" } = request.headers
    requests.push(target)
    if (requests.length === 1) {
      response.writeHead(503, { "content-type": "application/json", "retry-after": "1" }).end(unavailable)
      return
    }
    const reply = await client.call(target, { headers: { authorization } })
    const { connection: _, "transfer-encoding": __, ...headers } = reply.headers
    response.writeHead(reply.status, headers).end(reply.text)
  })
  return {
    url,
    /** Requests since the last call of this function. The next request fails. */
    takeRequests: (): ReadonlyArray<string> => {
      const taken = requests
      requests = []
      return taken
    },
    close: () => server.close()
  }
}

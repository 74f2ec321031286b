/** Stands before the API: notes what a program asks and what it is answered, and makes up the errors that no server gives on demand. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Client } from "../support/api/client.ts"

export interface Exchange {
  readonly target: string
  readonly status: number
  readonly body: unknown
}

const madeUp: ReadonlyMap<string, number> = new Map([
  ["/v1/products/broken", 500],
  ["/v1/products/overloaded", 503]
])
const unexpected = { error: { type: "internal", message: "An unexpected error occurred" } }

export const notingFront = async (client: Client) => {
  const exchanges: Array<Exchange> = []
  const server = createServer(async (request, response) => {
    const { headers, url: target = "/" } = request
    const made = madeUp.get(target)
    if (made !== undefined) {
      exchanges.push({ target, status: made, body: unexpected })
      const retry = made === 503 ? { "retry-after": "1" } : {}
      response.writeHead(made, { "content-type": "application/json", "x-request-id": "req_made_up", ...retry })
      response.end(JSON.stringify(unexpected))
      return
    }
    const { authorization = "" } = headers
    const reply = await client.call(target, { headers: { authorization } })
    exchanges.push({ target, status: reply.status, body: reply.json })
    const { connection: _, "transfer-encoding": __, ...more } = reply.headers
    response.writeHead(reply.status, more).end(reply.text)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    close: () => server.close()
  }
}

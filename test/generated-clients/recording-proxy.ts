/** A proxy in front of the API that records requests and responses, and simulates errors that no server returns on demand. */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Client } from "../support/api/client.ts"

export interface Exchange {
  readonly target: string
  readonly status: number
  readonly body: unknown
}

const simulatedErrors: ReadonlyMap<string, number> = new Map([
  ["/v1/products/broken", 500],
  ["/v1/products/overloaded", 503]
])
const unexpected = { error: { type: "internal", message: "An unexpected error occurred" } }

export const startRecordingProxy = async (client: Client) => {
  const exchanges: Array<Exchange> = []
  const server = createServer(async (request, response) => {
    const { headers, url: target = "/" } = request
    const simulated = simulatedErrors.get(target)
    if (simulated !== undefined) {
      exchanges.push({ target, status: simulated, body: unexpected })
      const retry = simulated === 503 ? { "retry-after": "1" } : {}
      response.writeHead(simulated, { "content-type": "application/json", "x-request-id": "req_simulated", ...retry })
      response.end(JSON.stringify(unexpected))
      return
    }
    const { authorization = "" } = headers
    const reply = await client.call(target, { headers: { authorization } })
    exchanges.push({ target, status: reply.status, body: reply.json })
    const { connection: _, "transfer-encoding": __, ...others } = reply.headers
    response.writeHead(reply.status, others).end(reply.text)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    close: () => server.close()
  }
}

/** Calls one at a time per connection, and measures each from its request to the last byte of its response. */
import { Agent, request } from "node:http"

export interface Response {
  readonly status: number
  readonly body: string
  readonly milliseconds: number
}

const call = (agent: Agent, url: string, headers: Readonly<Record<string, string>>) =>
  new Promise<Response>((resolve, reject) => {
    const startedAt = performance.now()
    const outgoing = request(url, { agent, headers }, (response) => {
      const pieces: Array<Buffer> = []
      response.on("data", (piece: Buffer) => pieces.push(piece))
      response.on("error", reject)
      response.on("end", () => {
        const milliseconds = performance.now() - startedAt
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces).toString(), milliseconds })
      })
    })
    outgoing.on("error", reject)
    outgoing.end()
  })

/** Processes a list on several connections. Fails if a response is not 200. */
export const callAll = async <Item, Result>(
  { api, connections, key }: { readonly api: string; readonly key: string; readonly connections: number },
  items: ReadonlyArray<Item>,
  work: (item: Item, get: (path: string) => Promise<Response>) => Promise<Result>
): Promise<ReadonlyArray<Result>> => {
  const waiting = items.values()
  const results: Array<Result> = []
  const worker = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const get = async (path: string) => {
      const response = await call(agent, api + path, { authorization: `Bearer ${key}` })
      if (response.status !== 200) throw new Error(`${path} returned ${response.status}: ${response.body}`)
      return response
    }
    try {
      for (const item of waiting) results.push(await work(item, get))
    } finally {
      agent.destroy()
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  return results
}

/** Calls one at a time per connection, each timed from its request to the last byte of its answer. */
import { Agent, request } from "node:http"

export interface Answer {
  readonly status: number
  readonly body: string
  readonly milliseconds: number
}

const ask = (agent: Agent, url: string, headers: Readonly<Record<string, string>>) =>
  new Promise<Answer>((resolve, reject) => {
    const startedAt = performance.now()
    const call = request(url, { agent, headers }, (response) => {
      const pieces: Array<Buffer> = []
      response.on("data", (piece: Buffer) => pieces.push(piece))
      response.on("error", reject)
      response.on("end", () => {
        const milliseconds = performance.now() - startedAt
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces).toString(), milliseconds })
      })
    })
    call.on("error", reject)
    call.end()
  })

/** Works through a list on so many connections. An answer that is not 200 is an error: a benchmark has no other. */
export const askAll = async <Question, Result>(
  { api, connections, key }: { readonly api: string; readonly key: string; readonly connections: number },
  questions: ReadonlyArray<Question>,
  work: (question: Question, get: (path: string) => Promise<Answer>) => Promise<Result>
): Promise<ReadonlyArray<Result>> => {
  const waiting = questions.values()
  const results: Array<Result> = []
  const worker = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const get = async (path: string) => {
      const answer = await ask(agent, api + path, { authorization: `Bearer ${key}` })
      if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}: ${answer.body}`)
      return answer
    }
    try {
      for (const question of waiting) results.push(await work(question, get))
    } finally {
      agent.destroy()
    }
  }
  await Promise.all(Array.from({ length: connections }, worker))
  return results
}

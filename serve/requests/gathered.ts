/**
 * Calls on their way into the tables, as bytes and counts. As objects, a busy server would carry tens of thousands of them
 * through each collection of garbage: that cost it a seventh of its calls.
 */
import type { NotedRequest } from "./request-log.ts"

/** No id, path or number has one of these. */
const betweenCells = "\u001f"
const betweenCalls = "\n"

const firstBytes = 64 * 1024

/** What several calls have in common that are counted together. */
export type Counted = Pick<NotedRequest, "account_id" | "key_id" | "endpoint" | "status"> & {
  readonly day: string
  readonly calls: number
}

export interface Gathered {
  /** In the order in which they were noted; of each account the latest ones. */
  readonly latest: ReadonlyArray<NotedRequest>
  readonly counts: ReadonlyArray<Counted>
  /** How many calls they are, with those that are only counted. */
  readonly calls: number
}

const callOf = (line: string): NotedRequest => {
  const [id = "", account_id = "", key_id = "", endpoint = "", status, credits, duration_ms, occurred_at = ""] =
    line.split(betweenCells)
  return {
    id,
    account_id,
    key_id,
    endpoint,
    status: Number(status),
    credits: Number(credits),
    duration_ms: Number(duration_ms),
    occurred_at
  }
}

const countedOf = ([key, calls]: readonly [string, number]): Counted => {
  const [day = "", account_id = "", key_id = "", endpoint = "", status] = key.split(betweenCells)
  return { day, account_id, key_id, endpoint, status: Number(status), calls }
}

/** Gathers calls, and of each account the latest `kept` whole. */
export const gatherer = (kept: number) => {
  let bytes = Buffer.allocUnsafe(firstBytes)
  let end = 0
  let calls = 0
  let counts = new Map<string, number>()

  const latest = (): ReadonlyArray<NotedRequest> => {
    const found = new Map<string, number>()
    const lines = bytes.toString("latin1", 0, end).split(betweenCalls)
    const requests: Array<NotedRequest> = []
    for (let at = lines.length - 2; at >= 0; at--) {
      const line = lines[at] ?? ""
      const from = line.indexOf(betweenCells) + 1
      const account = line.slice(from, line.indexOf(betweenCells, from))
      const count = (found.get(account) ?? 0) + 1
      found.set(account, count)
      if (count <= kept) requests.push(callOf(line))
    }
    return requests.reverse()
  }

  return {
    calls: () => calls,
    add: ({ account_id, credits, duration_ms, endpoint, id, key_id, occurred_at, status }: NotedRequest) => {
      const thousandths = Math.round(duration_ms * 1_000) / 1_000
      const line = `${id}${betweenCells}${account_id}${betweenCells}${key_id}${betweenCells}${endpoint}${betweenCells}${status}${betweenCells}${credits}${betweenCells}${thousandths}${betweenCells}${occurred_at}${betweenCalls}`
      if (end + line.length > bytes.length)
        bytes = Buffer.concat([bytes], Math.max(bytes.length * 2, end + line.length))
      end += bytes.write(line, end, "latin1")
      calls++
      const day = occurred_at.slice(0, 10)
      const counted = `${day}${betweenCells}${account_id}${betweenCells}${key_id}${betweenCells}${endpoint}${betweenCells}${status}`
      counts.set(counted, (counts.get(counted) ?? 0) + 1)
    },
    /** Everything that was gathered; the next calls begin anew. */
    take: (): Gathered => {
      const taken = { latest: latest(), counts: [...counts].map(countedOf), calls }
      end = 0
      calls = 0
      counts = new Map()
      return taken
    }
  }
}

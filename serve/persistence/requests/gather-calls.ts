/**
 * Gathers calls to be written: as strings that the databases split, and as counts. Tens of thousands of objects would
 * survive each garbage collection, which cost a busy server a seventh of its throughput.
 */
import { cellSeparator, rowSeparator } from "../encoded-rows.ts"
import type { RequestRecord } from "./request-log.ts"

/** Enough for two lines; most accounts have at most two. */
const firstBytes = 512

/** Attributes shared by calls that are counted together, and their number. */
export type Counted = Pick<RequestRecord, "account_id" | "key_id" | "endpoint" | "status"> & {
  readonly day: string
  readonly calls: number
}

export interface Gathered {
  /** One call per line, its cells in the order of `RequestRecord`: for each account the latest calls, in order. */
  readonly lines: string
  readonly counts: ReadonlyArray<Counted>
  /** Number of calls, including those that are only counted. */
  readonly calls: number
}

interface LineBuffer {
  bytes: Buffer
  end: number
  calls: number
}

interface CallsOfAccount {
  /** Full buffers, the oldest first; each contains half of `maxKept`. New lines are written to `current`. */
  fullBuffers: ReadonlyArray<LineBuffer>
  current: LineBuffer
  readonly counts: Map<string, number>
}

const newBuffer = (): LineBuffer => ({ bytes: Buffer.allocUnsafe(firstBytes), end: 0, calls: 0 })

const append = (buffer: LineBuffer, line: string) => {
  if (buffer.end + line.length > buffer.bytes.length) {
    buffer.bytes = Buffer.concat([buffer.bytes], Math.max(buffer.bytes.length * 2, buffer.end + line.length))
  }
  buffer.end += buffer.bytes.write(line, buffer.end, "latin1")
  buffer.calls++
}

const decodeLines = ({ bytes, end }: LineBuffer) => bytes.toString("latin1", 0, end)

const parseCount = (account_id: string, [key, calls]: readonly [string, number]): Counted => {
  const [day = "", key_id = "", endpoint = "", status] = key.split(cellSeparator)
  return { day, account_id, key_id, endpoint, status: Number(status), calls }
}

/** Keeps at least the latest `maxKept` calls of each account, at most 1.5 times as many, and counts all. */
export const gatherCalls = (maxKept: number) => {
  let accounts = new Map<string, CallsOfAccount>()
  let calls = 0
  let bytes = 0

  const openAccount = (id: string): CallsOfAccount => {
    const existing = accounts.get(id)
    if (existing !== undefined) return existing
    const account = { fullBuffers: [], current: newBuffer(), counts: new Map() }
    accounts.set(id, account)
    return account
  }

  /** The buffer for the next line. The oldest one is overwritten once two newer ones contain `maxKept` calls. */
  const chooseBuffer = (account: CallsOfAccount): LineBuffer => {
    if (account.current.calls < maxKept / 2) return account.current
    const [oldest, ...newer] = account.fullBuffers
    const isEnough = oldest !== undefined && newer.length === 1
    account.fullBuffers = [...(isEnough ? newer : account.fullBuffers), account.current]
    if (isEnough) bytes -= oldest.end
    account.current = isEnough ? Object.assign(oldest, { end: 0, calls: 0 }) : newBuffer()
    return account.current
  }

  return {
    calls: () => calls,
    bytes: () => bytes,
    add: (call: RequestRecord) => {
      const { account_id, credits, duration_ms, endpoint, id, key_id, occurred_at, status } = call
      const account = openAccount(account_id)
      const roundedDuration = Math.round(duration_ms * 1_000) / 1_000
      const line = `${id}${cellSeparator}${account_id}${cellSeparator}${key_id}${cellSeparator}${endpoint}${cellSeparator}${status}${cellSeparator}${credits}${cellSeparator}${roundedDuration}${cellSeparator}${occurred_at}${cellSeparator}${call.caller_request_id ?? ""}${cellSeparator}${call.traceparent ?? ""}${rowSeparator}`
      append(chooseBuffer(account), line)
      bytes += line.length
      calls++
      const countKey = `${occurred_at.slice(0, 10)}${cellSeparator}${key_id}${cellSeparator}${endpoint}${cellSeparator}${status}`
      account.counts.set(countKey, (account.counts.get(countKey) ?? 0) + 1)
    },
    /** Returns everything gathered so far, and clears it. */
    take: (): Gathered => {
      const buffers = [...accounts.values()].flatMap(({ current, fullBuffers }) => [...fullBuffers, current])
      const counts = [...accounts].flatMap(([id, account]) => [...account.counts].map((count) => parseCount(id, count)))
      const gathered = { lines: buffers.map(decodeLines).join("").trimEnd(), counts, calls }
      accounts = new Map()
      calls = 0
      bytes = 0
      return gathered
    }
  }
}

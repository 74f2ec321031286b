/**
 * Calls that are about to be written, as text that the databases split, and as counts. Tens of thousands of objects
 * would survive each garbage collection of a busy server, which cost it a seventh of its calls.
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

interface Part {
  bytes: Buffer
  end: number
  calls: number
}

interface CallsOfAccount {
  /** Full parts, the oldest first; each contains half of `maxKept`. New lines are written to `current`. */
  parts: ReadonlyArray<Part>
  current: Part
  readonly counts: Map<string, number>
}

const newPart = (): Part => ({ bytes: Buffer.allocUnsafe(firstBytes), end: 0, calls: 0 })

const append = (part: Part, line: string) => {
  if (part.end + line.length > part.bytes.length) {
    part.bytes = Buffer.concat([part.bytes], Math.max(part.bytes.length * 2, part.end + line.length))
  }
  part.end += part.bytes.write(line, part.end, "latin1")
  part.calls++
}

const decodePart = ({ bytes, end }: Part) => bytes.toString("latin1", 0, end)

const parseCount = (account_id: string, [key, calls]: readonly [string, number]): Counted => {
  const [day = "", key_id = "", endpoint = "", status] = key.split(cellSeparator)
  return { day, account_id, key_id, endpoint, status: Number(status), calls }
}

/** Gathers calls. Keeps the latest `maxKept` calls of each account in full, up to half as many more, and counts all. */
export const gatherCalls = (maxKept: number) => {
  let accounts = new Map<string, CallsOfAccount>()
  let calls = 0
  let bytes = 0

  const openAccount = (id: string): CallsOfAccount => {
    const known = accounts.get(id)
    if (known !== undefined) return known
    const account = { parts: [], current: newPart(), counts: new Map() }
    accounts.set(id, account)
    return account
  }

  /** The part for the next line. The oldest part is overwritten once two younger ones contain enough calls. */
  const openPart = (account: CallsOfAccount): Part => {
    if (account.current.calls < maxKept / 2) return account.current
    const [oldest, ...younger] = account.parts
    const isEnough = oldest !== undefined && younger.length === 1
    account.parts = [...(isEnough ? younger : account.parts), account.current]
    if (isEnough) bytes -= oldest.end
    account.current = isEnough ? Object.assign(oldest, { end: 0, calls: 0 }) : newPart()
    return account.current
  }

  return {
    calls: () => calls,
    bytes: () => bytes,
    add: ({ account_id, credits, duration_ms, endpoint, id, key_id, occurred_at, status }: RequestRecord) => {
      const account = openAccount(account_id)
      const thousandths = Math.round(duration_ms * 1_000) / 1_000
      const line = `${id}${cellSeparator}${account_id}${cellSeparator}${key_id}${cellSeparator}${endpoint}${cellSeparator}${status}${cellSeparator}${credits}${cellSeparator}${thousandths}${cellSeparator}${occurred_at}${rowSeparator}`
      append(openPart(account), line)
      bytes += line.length
      calls++
      const counted = `${occurred_at.slice(0, 10)}${cellSeparator}${key_id}${cellSeparator}${endpoint}${cellSeparator}${status}`
      account.counts.set(counted, (account.counts.get(counted) ?? 0) + 1)
    },
    /** Takes everything gathered so far, and starts empty. */
    take: (): Gathered => {
      const parts = [...accounts.values()].flatMap(({ current, parts }) => [...parts, current])
      const counts = [...accounts].flatMap(([id, account]) => [...account.counts].map((count) => parseCount(id, count)))
      const taken = { lines: parts.map(decodePart).join("").trimEnd(), counts, calls }
      accounts = new Map()
      calls = 0
      bytes = 0
      return taken
    }
  }
}

/**
 * Tears the write-ahead log of a killed server like a power failure: the last transaction is only partly on disk, because a
 * disk writes its blocks in any order. Only a transaction that was not yet confirmed may be damaged; if the last one was
 * confirmed, a part of another one is added.
 */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { DatabaseSync } from "node:sqlite"
import { ledgerPath } from "@larder/serve/ledger/embedded/ledger-file.ts"
import type { Chance } from "./chance.ts"

/** SQLite flushes the header of a log before it writes the first frame. */
export const headerLength = 32
const frameHeaderLength = 24

/** The write-ahead log of a ledger in this folder. */
export const logPath = (folder: string): string => `${ledgerPath(folder)}-wal`

interface Transaction {
  readonly start: number
  readonly end: number
}

/** The checksum of SQLite, over 32-bit words of the machine that began the log. */
const addChecksum = (log: Buffer, [from, to]: readonly [number, number], [a, b]: readonly [number, number]) => {
  const word = (at: number) => (log.readUInt32BE(0) % 2 === 1 ? log.readUInt32BE(at) : log.readUInt32LE(at))
  let [first, second] = [a, b]
  for (let at = from; at < to; at += 8) {
    first = (first + word(at) + second) >>> 0
    second = (second + word(at + 4) + first) >>> 0
  }
  return [first, second] as const
}

/** The transactions that SQLite finds in a log, in order. Bytes after them belong to an older log, or are incomplete. */
export const findTransactions = (log: Buffer): ReadonlyArray<Transaction> => {
  if (log.length < headerLength) return []
  const found: Array<Transaction> = []
  const frameLength = frameHeaderLength + log.readUInt32BE(8)
  let sums = addChecksum(log, [0, 24], [0, 0])
  for (let at = headerLength, start = at; at + frameLength <= log.length; at += frameLength) {
    if (log.compare(log, 16, 24, at + 8, at + 16) !== 0) break // its salts belong to an older log
    sums = addChecksum(log, [at, at + 8], sums)
    sums = addChecksum(log, [at + frameHeaderLength, at + frameLength], sums)
    if (sums[0] !== log.readUInt32BE(at + 16) || sums[1] !== log.readUInt32BE(at + 20)) break
    if (log.readUInt32BE(at + 4) === 0) continue
    found.push({ start, end: at + frameLength })
    start = at + frameLength
  }
  return found
}

/** Which part of the transaction is missing. */
export const tears = ["its end", "a hole in it", "its beginning"] as const
export type Tear = (typeof tears)[number]

/** `earlier` is the former content of the same bytes, if any. At least one byte is reverted, and at least one is kept. */
export const tearBytes = (whole: Buffer, earlier: Buffer, missing: Tear, { between }: Chance): Buffer => {
  const before = Buffer.concat([earlier, Buffer.alloc(Math.max(0, whole.length - earlier.length))])
  const isChanged = (byte: number, at: number) => byte !== before[at]
  const first = whole.findIndex(isChanged)
  const last = whole.findLastIndex(isChanged)
  if (first === last) throw new Error("there is nothing to tear")
  const part = Buffer.from(whole)
  const revert = (from: number, to: number) => before.copy(part, from, from, to)
  const boundary = between(first + 1, last)
  if (missing === "its end") revert(boundary, last + 1)
  else if (missing === "its beginning") revert(first, boundary)
  else {
    const from = whole.findIndex((byte, at) => at >= boundary && isChanged(byte, at))
    revert(from, between(from + 1, last + 1))
  }
  return part
}

const insertAnother = `
  insert into entry (sequence, account_id, position, type, occurred_at, key_id, endpoint, credits, balance, budget_credits,
    request_id, note, hash)
  select 1000000000 + number, 'acct_00000000000000000000', number, 'charge', '2026-10-15T12:00:00.000Z',
    'key_00000000000000000000', '/v1/stores', -100, 1000000, 1000000, 'req_torn_' || number, null,
    '0000000000000000000000000000000000000000000000000000000000000000'
  from (with recursive numbers(number) as (select 1 union all select number + 1 from numbers where number < 20)
    select number from numbers)`

/** Opens a copy of the file and of a log in a new folder. */
const openCopy = <A>(file: string, log: Buffer, use: (copy: DatabaseSync, log: string) => A): A => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-torn-"))
  try {
    copyFileSync(file, ledgerPath(folder))
    writeFileSync(logPath(folder), log)
    const copy = new DatabaseSync(ledgerPath(folder))
    try {
      copy.exec("pragma wal_autocheckpoint = 0")
      return use(copy, logPath(folder))
    } finally {
      copy.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const counts = `
  select (select coalesce(max(sequence), 0) from entry) as entries,
    (select count(*) from account) + (select coalesce(sum(revision), 0) from api_key) as others`
const readCounts = (copy: DatabaseSync) => {
  const { entries, others } = copy.prepare(counts).get() ?? {}
  return { entries: Number(entries), others: Number(others) }
}

/** Request ids of the entries of the last transaction; undefined if it contains anything else. */
const readLastCharges = (
  file: string,
  log: Buffer,
  { end, start }: Transaction
): ReadonlyArray<unknown> | undefined => {
  const before = openCopy(file, log.subarray(0, start), readCounts)
  return openCopy(file, log.subarray(0, end), (copy) => {
    const { entries, others } = readCounts(copy)
    if (entries === before.entries || others !== before.others) return undefined
    const added = copy.prepare("select request_id from entry where sequence > ?").all(before.entries)
    return added.map(({ request_id }) => request_id)
  })
}

/** The log with one more transaction. */
const addTransaction = (file: string, log: Buffer): Buffer =>
  openCopy(file, log, (copy, name) => {
    copy.exec(insertAnother)
    return readFileSync(name)
  })

/** Tears the log of the ledger in `$LARDER_HOME/ledger`, which no process has open. Returns what was damaged. */
export const tearLog = (
  home: string,
  missing: Tear,
  isConfirmed: (requestId: string) => boolean,
  chance: Chance
): "the last transaction" | "another transaction" => {
  const folder = path.join(home, "ledger")
  const [file, name] = [ledgerPath(folder), logPath(folder)]
  const log = existsSync(name) ? readFileSync(name) : Buffer.alloc(0)
  const last = findTransactions(log).at(-1)
  const charged = last === undefined ? undefined : readLastCharges(file, log, last)
  // accounts, keys, credits, people and payments are confirmed to a client
  const isUnconfirmed = charged?.every((id) => typeof id === "string" && !isConfirmed(id)) === true
  const whole = isUnconfirmed ? log : addTransaction(file, log)
  const { end, start } = findTransactions(whole).at(-1) ?? { start: 0, end: 0 }
  const earlier = isUnconfirmed ? Buffer.alloc(0) : log.subarray(start, end)
  const part = tearBytes(whole.subarray(start, end), earlier, missing, chance)
  writeFileSync(name, Buffer.concat([whole.subarray(0, start), part, whole.subarray(end)]))
  return isUnconfirmed ? "the last transaction" : "another transaction"
}

/**
 * Counts the records of a CSV file independently of DuckDB, to find lost records, and their fields: DuckDB fails at a
 * record with too few, but ignores empty fields after the last column. A state machine for RFC 4180 reads two bytes per
 * step, 0.7 s per gigabyte, on the main thread while DuckDB reads the file on its own threads.
 */
import { open } from "node:fs/promises"
import { Effect } from "effect"
import { pieceBytes } from "../../../run/files/chunk-size.ts"
import { fileUnreadable } from "./header.ts"

const nul = 0x00
const lineFeed = 0x0a
const carriageReturn = 0x0d
const quote = 0x22
const comma = 0x2c

/** States. `closed` follows a quote within quotes, which ends the field or is the first of two. `broken` is final. */
const recordStart = 0
const fieldStart = 1
const unquoted = 2
const inQuotes = 3
const closed = 4
const beforeLineFeed = 5
const broken = 6
const stateCount = 7
/** A state is three bits. Two bits above them count the records that end, and two more the commas between fields. */
const recordEnds = 8
const fieldEnds = 32

const atFieldStart = (byte: number) => {
  if (byte === quote) return inQuotes
  if (byte === comma) return fieldStart | fieldEnds
  if (byte === lineFeed) return recordStart | recordEnds
  return byte === carriageReturn ? beforeLineFeed : unquoted
}

/** A NUL makes a file broken, because only `filterRecords` replaces it. */
const nextState = (state: number, byte: number): number => {
  if (state === broken || byte === nul) return broken
  if (state === inQuotes) return byte === quote ? closed : inQuotes
  if (state === beforeLineFeed) return byte === lineFeed ? recordStart | recordEnds : broken
  const next = atFieldStart(byte)
  if (state === unquoted) return next === inQuotes ? broken : next
  if (state === closed) return next === unquoted ? broken : next
  return next
}

/** The transition tables for one byte and for two: the next state, and above its bits how many records end. */
const byteSteps = new Uint8Array(stateCount << 8)
for (let at = 0; at < byteSteps.length; at++) byteSteps[at] = nextState(at >> 8, at & 0xff)
const pairSteps = new Uint8Array(stateCount << 16)
for (let at = 0; at < pairSteps.length; at++) {
  const first = byteSteps[((at >> 16) << 8) | (at & 0xff)] ?? broken
  const second = byteSteps[((first & 7) << 8) | ((at >> 8) & 0xff)] ?? broken
  pairSteps[at] = second + (first & ~7)
}

/** The state after some bytes, and how many records and fields end in them. */
interface Walked {
  readonly state: number
  readonly records: number
  readonly commas: number
}

/** `ended` is the sum of all counts, in which a comma counts as four records. */
const splitCounts = (state: number, ended: number, commas: number): Walked => ({
  state,
  records: ended - 4 * commas,
  commas
})

const walk = (pairs: Uint16Array, from: number, to: number, state: number): Walked => {
  let current = state
  let ended = 0
  let commas = 0
  for (let at = from; at < to; at++) {
    const step = pairSteps[(current << 16) | (pairs[at] ?? 0)] ?? broken
    current = step & 7
    ended += step >> 3
    commas += step >> 5
  }
  return splitCounts(current, ended, commas)
}

const add = (first: Walked, second: Walked): Walked => ({
  state: second.state,
  records: first.records + second.records,
  commas: first.commas + second.commas
})

/** A pair near the middle where a record seems to begin; 0 if there is none. */
const findMiddle = (bytes: Uint8Array) => {
  let at = bytes.length >> 1
  do at = bytes.indexOf(lineFeed, at) + 1
  while (at % 2 === 1)
  return at >> 1
}

/**
 * Walks both halves in one loop: each step waits for the previous step of its half, so the processor overlaps the two. The
 * second half begins in the expected state. If the first half ends in another state, the second half is walked again.
 */
const walkHalves = (pairs: Uint16Array, middle: number, state: number): Walked => {
  const paired = Math.min(middle, pairs.length - middle)
  let first = state
  let second = recordStart
  let endedInFirst = 0
  let endedInSecond = 0
  let commasInFirst = 0
  let commasInSecond = 0
  for (let at = 0; at < paired; at++) {
    const step = pairSteps[(first << 16) | (pairs[at] ?? 0)] ?? broken
    const secondStep = pairSteps[(second << 16) | (pairs[middle + at] ?? 0)] ?? broken
    first = step & 7
    second = secondStep & 7
    endedInFirst += step >> 3
    endedInSecond += secondStep >> 3
    commasInFirst += step >> 5
    commasInSecond += secondStep >> 5
  }
  const firstHalf = add(splitCounts(first, endedInFirst, commasInFirst), walk(pairs, paired, middle, first))
  if (firstHalf.state !== recordStart) return add(firstHalf, walk(pairs, middle, pairs.length, firstHalf.state))
  const startOfSecond = splitCounts(second, endedInSecond, commasInSecond)
  return add(add(firstHalf, startOfSecond), walk(pairs, middle + paired, pairs.length, second))
}

const makeCounter = (columns: number) => {
  let walked: Walked = { state: recordStart, records: 0, commas: 0 }
  return {
    /** Each piece must begin at an even offset of its buffer, as `Uint16Array` requires. */
    add(bytes: Uint8Array) {
      const pairs = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1)
      const middle = findMiddle(bytes)
      const { state } = walked
      walked = add(walked, middle === 0 ? walk(pairs, 0, pairs.length, state) : walkHalves(pairs, middle, state))
      if (bytes.length % 2 === 0) return
      const step = byteSteps[(walked.state << 8) | (bytes.at(-1) ?? 0)] ?? broken
      walked = add(walked, splitCounts(step & 7, step >> 3, step >> 5))
    },
    end: () => {
      const { commas, records: ended, state } = walked
      if (state === broken || state === inQuotes || state === fieldStart) return undefined
      const records = state === recordStart ? ended : ended + 1
      return commas === records * (columns - 1) ? records : undefined
    }
  }
}

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

const countFile = async (path: string, columns: number, signal: AbortSignal) => {
  const counter = makeCounter(columns)
  const file = await open(path)
  const buffer = Buffer.from(new ArrayBuffer(pieceBytes))
  try {
    await file.read(buffer, 0, byteOrderMark.length, 0)
    let position = buffer.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0
    for (;;) {
      signal.throwIfAborted()
      const { bytesRead } = await file.read(buffer, 0, pieceBytes, position)
      if (bytesRead === 0) return counter.end()
      counter.add(buffer.subarray(0, bytesRead))
      position += bytesRead
    }
  } finally {
    await file.close()
  }
}

/**
 * Counts all records, including the header and blank lines. Undefined if the file is not well-formed CSV, has a NUL, has
 * more or fewer fields than `columns` in each record, or ends with a comma, after which DuckDB would read an empty field.
 */
export const countRecords = (member: string, path: string, columns: number) =>
  Effect.tryPromise({
    try: (signal) => countFile(path, columns, signal),
    catch: fileUnreadable(`${member}.csv`)
  })

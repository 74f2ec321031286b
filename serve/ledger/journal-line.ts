/**
 * One line of the journal: a group with the CRC-32 of its bytes. A line is valid or it is not, so a group is there whole
 * or not at all. DuckDB reads the same lines as newline-delimited JSON.
 *
 *     {"crc32":"5d41402a","records":{"entries":[…]}}
 */
import { crc32 } from "node:zlib"
import { Schema } from "effect"
import { Account, ApiKey, Entry } from "./records.ts"
import type { Group } from "./store.ts"

const head = '{"crc32":"'
const middle = '","records":'
const bodyAt = head.length + 8 + middle.length
const closingBrace = 0x7d
export const lineBreak = 0x0a

const sum = (body: Uint8Array) => crc32(body).toString(16).padStart(8, "0")

/** Empty lists are left out: nearly every group is charges only. */
export const lineOf = ({ accounts, keys, entries }: Group): Buffer => {
  const records = {
    ...(accounts.length > 0 && { accounts }),
    ...(keys.length > 0 && { keys }),
    ...(entries.length > 0 && { entries })
  }
  const line = Buffer.from(`${head}00000000${middle}${JSON.stringify(records)}}\n`)
  line.write(sum(line.subarray(bodyAt, -2)), head.length, "latin1")
  return line
}

const decodeRecords = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      accounts: Schema.optionalKey(Schema.Array(Account)),
      keys: Schema.optionalKey(Schema.Array(ApiKey)),
      entries: Schema.optionalKey(Schema.Array(Entry))
    })
  )
)

/** The group of a line without its line break, or undefined where the line is not what was written. */
export const groupOf = (line: Buffer): Group | undefined => {
  if (line.length < bodyAt + 3 || line.at(-1) !== closingBrace) return undefined
  const body = line.subarray(bodyAt, -1)
  const expected = head + sum(body) + middle
  if (line.toString("latin1", 0, bodyAt) !== expected) return undefined
  const { accounts = [], keys = [], entries = [] } = decodeRecords(body.toString())
  return { accounts, keys, entries }
}

/** Where the next text that could be a line begins, or -1. */
export const nextLineStart = (bytes: Buffer, from: number): number => bytes.indexOf(head, from, "latin1")

/**
 * What a power cut leaves behind a killed server: the last group in the journal is there in part, since a disk writes its
 * blocks in any order. Only a group of which nobody was told may be hurt; where the last one was told, half of another
 * follows it.
 */
import { closeSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs"
import path from "node:path"
import { bytesOf, groupAt } from "@larder/serve/ledger/embedded/journal-group.ts"
import type { Group } from "@larder/serve/ledger/machine.ts"
import type { Chance } from "./chance.ts"

export const isJournal = (name: string): boolean => /^journal-\d+\.ndjson$/.test(name)

/** What is missing of the group. Without its beginning nothing tells that there was one. */
export const tears = ["its end", "a hole in it", "its beginning"] as const
type Tear = (typeof tears)[number]

/** The group that a call would have added. */
const another: Group = {
  accounts: [],
  keys: [],
  entries: Array.from({ length: 20 }, (_, index) => ({
    sequence: 1_000_000_000 + index,
    account_id: "acct_00000000000000000000",
    position: 1 + index,
    type: "charge",
    occurred_at: "2026-10-15T12:00:00.000Z",
    key_id: "key_00000000000000000000",
    endpoint: "/v1/stores",
    credits: -100,
    balance: 1_000_000,
    budget_credits: 1_000_000,
    request_id: `req_torn_${index}`,
    note: null,
    hash: "0".repeat(64)
  }))
}

const lastGroup = (bytes: Buffer, journal: number) => {
  let last: { readonly start: number; readonly group: Group } | undefined
  let end = 0
  for (let next = groupAt(bytes, 0, journal); next !== undefined; next = groupAt(bytes, end, journal)) {
    last = { start: end, group: next.group }
    end = next.end
  }
  return { last, end }
}

/** Zeros are what the blocks held before. */
const torn = (whole: Buffer, how: Tear, { between }: Chance): Buffer => {
  const part = Buffer.from(whole)
  const length = part.length
  if (how === "its end") return part.fill(0, between(length >> 2, length - 2))
  if (how === "its beginning") return part.fill(0, 0, between(1, length - 2))
  const headEnd = part.indexOf("\n") + 1
  const from = between(headEnd, length - 2)
  return part.fill(0, from, between(from + 1, length))
}

/** Tears the newest journal file in `$LARDER_HOME/ledger`. Answers with its name, or nothing where there is no journal. */
export const tearJournal = (
  home: string,
  how: Tear,
  wasTold: (requestId: string) => boolean,
  chance: Chance
): string | undefined => {
  const folder = path.join(home, "ledger")
  const name = readdirSync(folder).filter(isJournal).sort().at(-1)
  if (name === undefined) return undefined
  const file = path.join(folder, name)
  const bytes = readFileSync(file)
  const journal = Number(/\d+/.exec(name)?.[0])
  const { end, last } = lastGroup(bytes, journal)
  // accounts, keys and credits are told to an operator
  const isUntold =
    last?.group.entries.length !== 0 &&
    last?.group.keys.length === 0 &&
    last.group.entries.every(({ request_id }) => request_id !== null && !wasTold(request_id))
  const start = isUntold ? last.start : end
  const fd = openSync(file, "r+")
  try {
    const part = torn(isUntold ? bytes.subarray(start, end) : bytesOf(journal, another), how, chance)
    writeSync(fd, part, 0, part.length, start)
  } finally {
    closeSync(fd)
  }
  return name
}

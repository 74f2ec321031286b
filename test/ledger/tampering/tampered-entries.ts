/** Entries that were changed, removed or added by hand. */
import { alteredEntry, firstOfA, foreignKey, fourthOfA, type Tampering } from "./tampering.ts"

const lastTwo = "where occurred_at > '2026-11-01T09:00:00.000Z'"

/** What differs in the derived tables if a charge of 10 by `key_a` is missing. */
const withoutCharge = {
  folder: [
    "usage_of_day has 4 calls and 40 credits for acct_a 2026-10-30 key_a /v1/branded-foods, but its charges are 3 and 30",
    "usage_of_endpoint has 8 calls and 80 credits for acct_a 2026-10-30 /v1/branded-foods, but its charges are 7 and 70",
    "usage_of_month has 8 calls and 80 credits for 24321 acct_a key_a /v1/branded-foods, but its charges are 7 and 70"
  ],
  postgres: [
    "key key_a was charged 150 credits in 24321, and 160 are counted for its budget",
    "the usage of key key_a on 2026-10-30 is not the sum of its charges"
  ]
}

export const tamperedEntries: ReadonlyArray<Tampering> = [
  { what: "a note", change: `update entry set note = 'x' ${fourthOfA}`, found: [alteredEntry(4)] },
  { what: "a request id", change: `update entry set request_id = 'x' ${fourthOfA}`, found: [alteredEntry(4)] },
  {
    what: "the request id of another charge",
    change: `update entry set request_id = 'req_5' ${fourthOfA}`,
    folder: [alteredEntry(4), "request req_5 was charged 2 times"]
  },
  {
    what: "an empty request id",
    change: `update entry set request_id = '' ${firstOfA}`,
    found: ["entry 1 of account acct_a is not what was written: a field is empty"]
  },
  {
    what: "a time",
    change: `update entry set occurred_at = '2026-10-30T03:00:00.001Z' ${fourthOfA}`,
    found: [alteredEntry(4)]
  },
  {
    what: "a time with a microsecond more",
    change: `update entry set occurred_at = occurred_at + interval '1 microsecond' ${firstOfA}`,
    postgres: [alteredEntry(1)]
  },
  {
    what: "a time before the year 1",
    change: `update entry set occurred_at = occurred_at - interval '4051 years' ${firstOfA}`,
    postgres: [alteredEntry(1)]
  },
  {
    what: "an infinite time",
    change: `update entry set occurred_at = 'infinity' ${firstOfA}`,
    postgres: [alteredEntry(1)]
  },
  {
    what: "a charge that became a refund",
    change: `update entry set type = 'refund' ${fourthOfA}`,
    found: [alteredEntry(4)],
    folder: [
      "usage_of_day has 4 calls and 40 credits for acct_a 2026-10-30 key_a /v1/branded-foods, but its charges are 2 and 40",
      "usage_of_endpoint has 8 calls and 80 credits for acct_a 2026-10-30 /v1/branded-foods, but its charges are 6 and 80",
      "usage_of_month has 8 calls and 80 credits for 24321 acct_a key_a /v1/branded-foods, but its charges are 6 and 80"
    ],
    postgres: [
      "account acct_a has 0 credits of refunds and disputes, but its entries add up to 10",
      "the usage of key key_a on 2026-10-30 is not the sum of its charges"
    ]
  },
  {
    what: "an entry without a type",
    change: `alter table entry alter column type drop not null; update entry set type = null ${firstOfA}`,
    postgres: [alteredEntry(1)]
  },
  {
    what: "credits",
    change: `update entry set credits = credits - 1 ${fourthOfA}`,
    found: ["entry 4 of account acct_a has a balance of 4970 credits, but the entries up to it add up to 4969"],
    folder: [
      "usage_of_day has 4 calls and 40 credits for acct_a 2026-10-30 key_a /v1/branded-foods, but its charges are 4 and 41",
      "usage_of_endpoint has 8 calls and 80 credits for acct_a 2026-10-30 /v1/branded-foods, but its charges are 8 and 81",
      "usage_of_month has 8 calls and 80 credits for 24321 acct_a key_a /v1/branded-foods, but its charges are 8 and 81"
    ],
    postgres: [
      "all balances add up to 9400 credits, but all entries to 9399",
      "key key_a was charged 161 credits in 24321, and 160 are counted for its budget",
      "the usage of key key_a on 2026-10-30 is not the sum of its charges"
    ]
  },
  {
    what: "a negative balance after an entry",
    change: `update entry set balance = -1 ${fourthOfA}`,
    found: [
      "entry 4 of account acct_a has a balance of -1 credits, but the entries up to it add up to 4970",
      "entry 4 of account acct_a leaves a balance of -1 credits",
      "entry 5 of account acct_a has a balance of 4960 credits, but the entries up to it add up to -11"
    ]
  },
  { what: "a budget", change: `update entry set budget_credits = 2000 ${fourthOfA}`, found: [alteredEntry(4)] },
  {
    what: "the hash of a last entry",
    change: "update entry set hash = upper(hash) where account_id = 'acct_a' and position = 41",
    found: [alteredEntry(41)],
    folder: [
      "account acct_a is at its entry 41 with 4600 credits in the running server, and at its entry 41 with 4600 credits in the database",
      "entries were summed up to number 62, which is missing or different; the last entry is 62. If this ledger replaced a newer one, as after a restore, remove sums.sqlite"
    ],
    postgres: [
      "account acct_a has 4600 credits after 41 entries, but its last entry is number 41 with a balance of 4600"
    ]
  },
  {
    what: "the key of a charge",
    change: `update entry set key_id = 'key_gone' ${fourthOfA}`,
    found: [alteredEntry(4), foreignKey(4, "key_gone")],
    folder: [
      ...withoutCharge.folder.filter((problem) => !problem.startsWith("usage_of_endpoint")),
      "usage_of_day has 0 calls and 0 credits for acct_a 2026-10-30 key_gone /v1/branded-foods, but its charges are 1 and 10",
      "usage_of_month has 0 calls and 0 credits for 24321 acct_a key_gone /v1/branded-foods, but its charges are 1 and 10"
    ],
    postgres: [
      ...withoutCharge.postgres,
      "key key_gone was charged 10 credits in 24321, and 0 are counted for its budget",
      "the usage of key key_gone on 2026-10-30 is not the sum of its charges"
    ]
  },
  {
    what: "charges without key, endpoint and request",
    change: `update entry set key_id = null, endpoint = null, request_id = null ${lastTwo}`,
    found: [
      alteredEntry(21, "acct_b"),
      foreignKey(21, "null", "acct_b"),
      alteredEntry(41, "acct_a"),
      foreignKey(41, "null", "acct_a")
    ],
    folder: [
      "request null was charged 2 times",
      "usage_of_day has 2 calls and 20 credits for acct_a 2026-11-01 key_c /v1/branded-foods, but its charges are 1 and 10",
      "usage_of_day has 2 calls and 20 credits for acct_b 2026-11-01 key_b /v1/stores, but its charges are 1 and 10",
      "usage_of_endpoint has 4 calls and 40 credits for acct_a 2026-11-01 /v1/branded-foods, but its charges are 3 and 30",
      "usage_of_endpoint has 2 calls and 20 credits for acct_b 2026-11-01 /v1/stores, but its charges are 1 and 10",
      "usage_of_month has 2 calls and 20 credits for 24322 acct_a key_c /v1/branded-foods, but its charges are 1 and 10",
      "usage_of_month has 2 calls and 20 credits for 24322 acct_b key_b /v1/stores, but its charges are 1 and 10"
    ],
    postgres: [
      "key key_b was charged 30 credits in 24322, and 40 are counted for its budget",
      "key key_c was charged 30 credits in 24322, and 40 are counted for its budget",
      "the usage of key key_b on 2026-11-01 is not the sum of its charges",
      "the usage of key key_c on 2026-11-01 is not the sum of its charges"
    ]
  },
  {
    what: "an entry that is missing",
    change: `delete from entry ${fourthOfA}`,
    found: ["entry 5 of account acct_a follows its entry 3, so entries are missing"],
    folder: ["entry 7 follows entry 5, so entries are missing", ...withoutCharge.folder],
    postgres: ["all balances add up to 9400 credits, but all entries to 9410", ...withoutCharge.postgres]
  },
  {
    what: "an entry of an account that does not exist",
    change: `insert into entry (account_id, position, type, occurred_at, credits, balance, hash)
      values ('acct_gone', 1, 'grant', '2026-10-30T00:00:00.000Z', 0, 0, '')`,
    found: [alteredEntry(1, "acct_gone")],
    folder: ["entry 1 of account acct_gone belongs to an account that is missing"],
    postgres: ["1 entries belong to account acct_gone, which is missing"]
  },
  {
    what: "two numbers that are swapped",
    change: `update entry set sequence = 100 where sequence = 6;
      update entry set sequence = 6 where sequence = 7;
      update entry set sequence = 7 where sequence = 100`,
    folder: [
      "entry 3 of account acct_b has number 6, and the index has number 7",
      "entry 4 of account acct_a has number 7, and the index has number 6"
    ]
  }
]

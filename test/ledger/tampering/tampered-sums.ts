/** Other tables than that of the entries: owners, balances, sums, places and the heads at which chains begin. */
import { alteredEntry, foreignKey, fourthOfA, type Tampering } from "./tampering.ts"

const ofStores = "where day = '2026-10-31' and account_id = 'acct_b' and endpoint = '/v1/stores'"
const everyTableOfB = [
  "the usage of key key_b on 2026-10-31 is not the sum of its charges",
  "the usage of key key_b in month 24321 is not the sum of its days",
  "the usage of /v1/stores by account acct_b on 2026-10-31 is not the sum of its keys"
]

const chargesOfKeyC = Array.from({ length: 20 }, (_, index) => 3 + 2 * index)

export const tamperedSums: ReadonlyArray<Tampering> = [
  {
    what: "the owner of a key",
    change: "update api_key set account_id = 'acct_b' where id = 'key_c'",
    found: chargesOfKeyC.map((position) => foreignKey(position, "key_c"))
  },
  {
    what: "budgets that were too low for a month",
    change: "update entry set budget_credits = 39 where key_id = 'key_b' and occurred_at >= '2026-11-01T00:00:00.000Z'",
    found: [18, 19, 20, 21].map((position) => alteredEntry(position, "acct_b")),
    folder: ["key key_b was charged 40 credits in 2026-11, but the highest budget of these charges is 39"],
    postgres: ["key key_b was charged 40 credits in a month with a highest budget of 39"]
  },
  {
    what: "the balance of an account",
    change: "update account set balance = 5000 where id = 'acct_a'",
    postgres: [
      "account acct_a has 5000 credits after 41 entries, but its last entry is number 41 with a balance of 4600",
      "all balances add up to 9800 credits, but all entries to 9400"
    ]
  },
  {
    what: "the sum of refunds and disputes",
    change: "update account set reversed_credits = 7 where id = 'acct_a'",
    postgres: ["account acct_a has 7 credits of refunds and disputes, but its entries add up to 0"]
  },
  {
    what: "what is counted for a budget",
    change: "update spent_in_month set credits = credits + 1 where key_id = 'key_b' and month = 24321",
    postgres: ["key key_b was charged 160 credits in 24321, and 161 are counted for its budget"]
  },
  {
    what: "the calls of a day",
    change: `update usage_of_day set calls = calls + 1 ${ofStores}`,
    folder: [
      "usage_of_day has 5 calls and 40 credits for acct_b 2026-10-31 key_b /v1/stores, but its charges are 4 and 40"
    ],
    postgres: everyTableOfB
  },
  {
    what: "a day that is missing",
    change: `delete from usage_of_day ${ofStores}`,
    folder: [
      "usage_of_day has 0 calls and 0 credits for acct_b 2026-10-31 key_b /v1/stores, but its charges are 4 and 40"
    ],
    postgres: everyTableOfB
  },
  {
    what: "the calls of two endpoints, whose sum is right",
    change: `update usage_of_endpoint
      set calls = calls + case when endpoint = '/v1/stores' then 1 else -1 end
      where day = '2026-10-31' and account_id = 'acct_b'`,
    folder: [
      "usage_of_endpoint has 3 calls and 40 credits for acct_b 2026-10-31 /v1/branded-foods, but its charges are 4 and 40",
      "usage_of_endpoint has 5 calls and 40 credits for acct_b 2026-10-31 /v1/stores, but its charges are 4 and 40"
    ],
    postgres: [
      "the usage of /v1/branded-foods by account acct_b on 2026-10-31 is not the sum of its keys",
      "the usage of /v1/stores by account acct_b on 2026-10-31 is not the sum of its keys"
    ]
  },
  {
    what: "the credits of a month",
    change:
      "update usage_of_month set credits = 0 where key_id = 'key_b' and endpoint = '/v1/stores' and month = 24321",
    folder: [
      "usage_of_month has 8 calls and 0 credits for 24321 acct_b key_b /v1/stores, but its charges are 8 and 80"
    ],
    postgres: ["the usage of key key_b in month 24321 is not the sum of its days"]
  },
  {
    what: "the place of an entry",
    change: `update entry_place set sequence = 9 ${fourthOfA}`,
    folder: ["entry 4 of account acct_a has number 6, and the index has number 9"]
  },
  {
    what: "a place without an entry",
    change: "insert into entry_place values ('acct_x', 1, 6)",
    folder: ["the index has 63 entries, and the ledger 62"]
  }
]

const archive = (derived: string) => `
  insert into chain_start
    select account_id, position, balance, hash
    from entry
    where (account_id, position) in (
      select account_id, max(position) from entry where occurred_at < '2026-11-01T00:00:00.000Z' group by account_id
    );
  delete from entry where occurred_at < '2026-11-01T00:00:00.000Z';
  delete from usage_of_day where day < '2026-11-01';
  delete from usage_of_endpoint where day < '2026-11-01';
  delete from usage_of_month where month < 2026 * 12 + 10;
  ${derived}`

/** Archives October, with all that is derived from its 50 entries. */
export const archiveOctober = {
  folder: archive("delete from entry_place where sequence <= 50"),
  postgres: archive("delete from spent_in_month where month < 2026 * 12 + 10")
}
const afterArchiving = (change: string) => ({
  folder: `${archiveOctober.folder}; ${change}`,
  postgres: `${archiveOctober.postgres}; ${change}`
})

export const tamperedStarts: ReadonlyArray<Tampering> = [
  {
    what: "the balance at which a chain begins",
    change: afterArchiving("update chain_start set balance = balance + 1 where account_id = 'acct_a'"),
    found: ["entry 34 of account acct_a has a balance of 4670 credits, but the entries up to it add up to 4671"],
    postgres: ["all balances add up to 9400 credits, but all entries to 9401"]
  },
  {
    what: "the hash at which a chain begins",
    change: afterArchiving("update chain_start set hash = 'x' where account_id = 'acct_a'"),
    found: [alteredEntry(34)]
  },
  {
    what: "the first entry after the archived ones, which is missing",
    change: afterArchiving("delete from entry where account_id = 'acct_a' and position = 34"),
    found: ["entry 35 of account acct_a follows its entry 33, so entries are missing"],
    folder: [
      "entry 52 follows entry 50, so entries are missing",
      "usage_of_day has 2 calls and 20 credits for acct_a 2026-11-01 key_a /v1/stores, but its charges are 1 and 10",
      "usage_of_endpoint has 4 calls and 40 credits for acct_a 2026-11-01 /v1/stores, but its charges are 3 and 30",
      "usage_of_month has 2 calls and 20 credits for 24322 acct_a key_a /v1/stores, but its charges are 1 and 10"
    ],
    postgres: [
      "all balances add up to 9400 credits, but all entries to 9410",
      "key key_a was charged 30 credits in 24322, and 40 are counted for its budget",
      "the usage of key key_a on 2026-11-01 is not the sum of its charges"
    ]
  }
]

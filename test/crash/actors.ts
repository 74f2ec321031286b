/**
 * The accounts and keys of the callers, and their calls. A rich account has two keys with a large budget, and one that soon
 * reaches its budget. A poor account has two keys, which soon spend its balance. Prices and statuses of calls are those of
 * the price list.
 */
import { scopes } from "@larder/schemas"
import { Effect } from "effect"
import { administer } from "../support/api/operator.ts"
import type { CreatedKey, Environment } from "../support/programs.ts"
import type { Chance } from "./chance.ts"

/** The home and the environment of servers and commands, which determine where the ledger is. */
export interface Setup {
  readonly home: string
  readonly environment: Environment
}

export interface Call {
  readonly key: CreatedKey
  readonly target: string
  /** The endpoint in entries. */
  readonly endpoint: string
  /** The price of a 200. */
  readonly credits: number
  readonly statuses: ReadonlyArray<number>
}

const prices = {
  target: "/v1/commodities/prices?series=butter-sales-price-weekly&from=2026-08-01",
  endpoint: "/v1/commodities/prices",
  credits: 10,
  statuses: [200, 402]
}
const stores = { target: "/v1/stores", endpoint: "/v1/stores", credits: 100, statuses: [200, 402] }
/** Its price is held and then released. */
const unknownStore = { target: "/v1/stores/none", endpoint: "/v1/stores/{id}", credits: 100, statuses: [404, 402] }
const invalid = { target: "/v1/commodities?limit=0", endpoint: "/v1/commodities", credits: 10, statuses: [400] }

export interface Actors {
  readonly accounts: ReadonlyArray<string>
  /** The account of the key that soon reaches its budget. */
  readonly rich: string
  readonly poor: string
  readonly draw: (chance: Chance) => Call
  /** Alternately adds 4 USD to the poor account, and raises the budget by 2 USD. */
  readonly replenish: () => Promise<void>
}

const manyCredits = 1_000_000_000
const smallBudget = 2_000

export const createActors = async ({ home }: Setup): Promise<Actors> => {
  const created = administer(home, (ledger) =>
    Effect.gen(function* () {
      const key = (account_id: string, budget_credits: number) =>
        ledger.createKey({ account_id, name: "caller", scopes, budget_credits })
      const rich = (yield* ledger.createAccount({ name: "rich" })).id
      const poor = (yield* ledger.createAccount({ name: "poor" })).id
      yield* ledger.creditAccount({ account_id: rich, credits: manyCredits, note: "load" })
      return {
        rich: [yield* key(rich, manyCredits), yield* key(rich, manyCredits)],
        limited: yield* key(rich, smallBudget),
        poor: [yield* key(poor, manyCredits), yield* key(poor, manyCredits)]
      } as const
    })
  )
  const { limited, poor, rich } = await created
  const [{ account_id: richAccount }] = rich
  const [{ account_id: poorAccount }] = poor
  let rounds = 0
  return {
    accounts: [richAccount, poorAccount],
    rich: richAccount,
    poor: poorAccount,
    draw: ({ oneOf }) => {
      const key = oneOf([...rich, ...rich, ...rich, ...poor, limited, limited])
      return { key, ...oneOf([prices, prices, prices, prices, stores, stores, unknownStore, invalid]) }
    },
    replenish: async () => {
      rounds++
      await administer(home, ({ creditAccount, editKey }) =>
        rounds % 2 === 0
          ? Effect.asVoid(editKey({ key_id: limited.id, budget_credits: smallBudget + rounds * 1_000 }))
          : Effect.asVoid(creditAccount({ account_id: poorAccount, credits: 4_000, note: "more" }))
      )
    }
  }
}

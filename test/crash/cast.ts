/**
 * Who calls and what for: a rich account with two keys that may spend it and one that soon reaches its budget, and a poor
 * account whose two keys soon have spent all. What calls cost and may answer is written down here, from the price list.
 */
import { scopes } from "@larder/schemas"
import { Effect } from "effect"
import { administer } from "../support/api/operator.ts"
import type { CreatedKey, Environment } from "../support/programs.ts"
import type { Chance } from "./chance.ts"

/** Where a ledger is, for servers and commands alike. */
export interface Place {
  readonly home: string
  readonly environment: Environment
}

export interface Call {
  readonly key: CreatedKey
  readonly target: string
  /** As entries name it. */
  readonly endpoint: string
  /** What a 200 costs. */
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
/** Held, read, and given back. */
const unknownStore = { target: "/v1/stores/none", endpoint: "/v1/stores/{id}", credits: 100, statuses: [404, 402] }
const invalid = { target: "/v1/commodities?limit=0", endpoint: "/v1/commodities", credits: 10, statuses: [400] }

export interface Cast {
  readonly accounts: ReadonlyArray<string>
  /** The account of the key that soon reaches its budget. */
  readonly rich: string
  readonly poor: string
  readonly draw: (chance: Chance) => Call
  /** What an operator does between two blows, in turns: 4 USD more for the poor, or a budget that is 2 USD higher. */
  readonly giveMore: () => Promise<void>
}

const plenty = 1_000_000_000
const smallBudget = 2_000

export const hire = async ({ home }: Place): Promise<Cast> => {
  const hired = administer(home, (ledger) =>
    Effect.gen(function* () {
      const key = (account_id: string, budget_credits: number) =>
        ledger.createKey({ account_id, name: "caller", scopes, budget_credits })
      const rich = (yield* ledger.createAccount({ name: "rich" })).id
      const poor = (yield* ledger.createAccount({ name: "poor" })).id
      yield* ledger.creditAccount({ account_id: rich, credits: plenty, note: "load" })
      return {
        rich: [yield* key(rich, plenty), yield* key(rich, plenty)],
        careful: yield* key(rich, smallBudget),
        poor: [yield* key(poor, plenty), yield* key(poor, plenty)]
      } as const
    })
  )
  const { careful, poor, rich } = await hired
  const [{ account_id: richAccount }] = rich
  const [{ account_id: poorAccount }] = poor
  let given = 0
  return {
    accounts: [richAccount, poorAccount],
    rich: richAccount,
    poor: poorAccount,
    draw: ({ oneOf }) => {
      const key = oneOf([...rich, ...rich, ...rich, ...poor, careful, careful])
      return { key, ...oneOf([prices, prices, prices, prices, stores, stores, unknownStore, invalid]) }
    },
    giveMore: async () => {
      given++
      await administer(home, ({ creditAccount, editKey }) =>
        given % 2 === 0
          ? Effect.asVoid(editKey({ key_id: careful.id, budget_credits: smallBudget + given * 1_000 }))
          : Effect.asVoid(creditAccount({ account_id: poorAccount, credits: 4_000, note: "more" }))
      )
    }
  }
}

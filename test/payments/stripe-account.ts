/** A Stripe account and its settings, which a test can change. */
import type { Json } from "./stripe-objects.ts"

export interface Endpoint {
  readonly url: string
  readonly status: "enabled" | "disabled"
  readonly enabled_events: ReadonlyArray<string>
}

export const openAccount = () => ({
  country: "US",
  default_currency: "usd",
  charges_enabled: true,
  card_payments: "active",
  /** Currencies in which customers may pay. */
  payable: ["eur", "usd"] as ReadonlyArray<string>,
  endpoints: [] as ReadonlyArray<Endpoint>
})
export type Account = ReturnType<typeof openAccount>

export const toAccountJson = ({ card_payments, charges_enabled, country, default_currency }: Account): Json => ({
  id: "acct_loopback",
  object: "account",
  business_profile: null,
  capabilities: { card_payments, transfers: "active" },
  charges_enabled,
  country,
  default_currency,
  details_submitted: true,
  email: "billing@example.test",
  payouts_enabled: true,
  type: "standard"
})

export const toCountryJson = ({ country, default_currency, payable }: Account): Json => ({
  id: country,
  object: "country_spec",
  default_currency,
  supported_payment_currencies: payable,
  supported_payment_methods: ["ach", "card", "stripe"]
})

export const toEndpointJson = ({ enabled_events, status, url }: Endpoint, index: number): Json => ({
  id: `we_${index}`,
  object: "webhook_endpoint",
  api_version: null,
  application: null,
  created: 1_700_000_000,
  description: null,
  enabled_events,
  livemode: false,
  metadata: {},
  status,
  url
})

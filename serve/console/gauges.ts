/**
 * The metrics of `/metrics` besides requests: the pipeline, the ledger, the generation, the request log, sign-ins, and
 * the card processor's events.
 */
import type { Gauge, Limiter, RequestPipeline } from "../api/index.ts"
import type { EventCounts } from "../billing/index.ts"
import type { LedgerAccess } from "../ledger/index.ts"
import type { SignIns } from "../people/index.ts"

const single = (type: Gauge["type"], name: string, help: string, value: () => number): Gauge => ({
  name,
  type,
  help,
  values: () => [["", value()]]
})
const byOutcome = (name: string, help: string, counts: () => SignIns | EventCounts): Gauge => ({
  name,
  type: "counter",
  help,
  values: () => Object.entries(counts()).map(([outcome, count]) => [`{outcome="${outcome}"}`, count])
})

const refused = (limit: string) => `Calls refused because ${limit} would not cover them.`
const ledgerCounters: ReadonlyArray<readonly [keyof LedgerAccess["counters"], name: string, help: string]> = [
  ["commits", "charges", "Charges made durable."],
  ["groups", "groups", "Groups of charges and holds written."],
  ["failed_groups", "failed_groups", "Groups that could not be written, or got no answer."],
  ["durable_seconds", "durable_seconds", "Time spent on making groups durable."],
  ["refused_insufficient_balance", "refused_insufficient_balance", refused("the balance")],
  ["refused_daily_spend_cap_reached", "refused_daily_spend_cap_reached", refused("a key's daily budget")],
  ["refused_weekly_spend_cap_reached", "refused_weekly_spend_cap_reached", refused("a key's weekly budget")],
  ["refused_monthly_spend_cap_reached", "refused_spend_cap_reached", refused("a key's monthly budget")]
]

export const makeGauges = (
  ledger: Pick<LedgerAccess, "counters">,
  pipeline: RequestPipeline,
  limiter: Limiter,
  swaps: () => number,
  dropped: () => number,
  signIns: () => SignIns,
  events: () => EventCounts
): ReadonlyArray<Gauge> => [
  single("gauge", "larder_requests_in_flight", "Calls that are being answered.", pipeline.inFlight),
  single("gauge", "larder_requests_waiting", "Calls waiting for capacity of their key or account.", limiter.waiting),
  single("gauge", "larder_unsent_bytes", "Bytes of answers that are not sent yet.", limiter.unsentBytes),
  single("counter", "larder_generation_swaps_total", "New generations served since the start.", swaps),
  single("counter", "larder_requests_not_logged_total", "Answered calls missing from the list of requests.", dropped),
  ...ledgerCounters.map(([counter, name, help]) =>
    single("counter", `larder_ledger_${name}_total`, help, () => ledger.counters[counter])
  ),
  byOutcome("larder_sign_ins_total", "Attempts to sign in to the console by outcome.", signIns),
  byOutcome("larder_webhook_events_total", "Events of the card processor by outcome.", events)
]

/**
 * The metrics of `/metrics` except those of requests: the pipeline, the ledger, the generation, the request log,
 * sign-ins, and the card processor's events.
 */
import type { Gauge, Limiter, RequestPipeline } from "../api/index.ts"
import type { EventCounts } from "../billing/index.ts"
import type { LedgerAccess } from "../ledger/index.ts"
import type { SignIns } from "../people/index.ts"

const makeGauge = (type: Gauge["type"], name: string, help: string, value: () => number): Gauge => ({
  name,
  type,
  help,
  values: () => [["", value()]]
})
const makeOutcomeCounter = (name: string, help: string, counts: () => SignIns | EventCounts): Gauge => ({
  name,
  type: "counter",
  help,
  values: () => Object.entries(counts()).map(([outcome, count]) => [`{outcome="${outcome}"}`, count])
})

const describeRefused = (limit: string) => `Calls refused because ${limit} would not cover them.`
const ledgerCounters: ReadonlyArray<readonly [keyof LedgerAccess["counters"], name: string, help: string]> = [
  ["commits", "charges", "Charges made durable."],
  ["groups", "groups", "Groups of charges and holds written."],
  ["failed_groups", "failed_groups", "Groups that could not be written, or received no response."],
  ["durable_seconds", "durable_seconds", "Time spent on making groups durable."],
  ["refused_insufficient_balance", "refused_insufficient_balance", describeRefused("the balance")],
  ["refused_daily_spend_cap_reached", "refused_daily_spend_cap_reached", describeRefused("a key's daily budget")],
  ["refused_weekly_spend_cap_reached", "refused_weekly_spend_cap_reached", describeRefused("a key's weekly budget")],
  ["refused_monthly_spend_cap_reached", "refused_spend_cap_reached", describeRefused("a key's monthly budget")]
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
  makeGauge("gauge", "larder_requests_in_flight", "Calls that are being processed.", pipeline.inFlight),
  makeGauge("gauge", "larder_requests_waiting", "Calls waiting for capacity of their key or account.", limiter.waiting),
  makeGauge("gauge", "larder_unsent_bytes", "Bytes of responses that are not sent yet.", limiter.unsentBytes),
  makeGauge("counter", "larder_generation_swaps_total", "New generations served since the start.", swaps),
  makeGauge(
    "counter",
    "larder_requests_not_logged_total",
    "Completed calls missing from the list of requests.",
    dropped
  ),
  ...ledgerCounters.map(([counter, name, help]) =>
    makeGauge("counter", `larder_ledger_${name}_total`, help, () => ledger.counters[counter])
  ),
  makeOutcomeCounter("larder_sign_ins_total", "Attempts to sign in to the console by outcome.", signIns),
  makeOutcomeCounter("larder_webhook_events_total", "Events of the card processor by outcome.", events)
]

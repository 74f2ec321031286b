/**
 * The metrics of `/metrics` except the counts and durations of responses: the pipeline, the ledger, the generation, the
 * request log, sign-ins, the card processor's events, and what the server sends.
 */
import { formatLabels, type Limiter, type Metric, type RequestPipeline } from "../api/index.ts"
import type { EventCounts } from "../billing/index.ts"
import type { LedgerAccess } from "../ledger/index.ts"
import type { Deliveries } from "../notices/index.ts"
import type { SignIns } from "../people/index.ts"

const makeMetric = (type: Metric["type"], name: string, help: string, value: () => number): Metric => ({
  name,
  type,
  help,
  values: () => [["", value()]]
})
const makeOutcomeCounter = (name: string, help: string, counts: () => SignIns | EventCounts): Metric => ({
  name,
  type: "counter",
  help,
  values: () => Object.entries(counts()).map(([outcome, count]) => [formatLabels({ outcome }), count])
})

const describeRefused = (limit: string) => `Calls refused because ${limit} would not cover them.`
const ledgerCounters: ReadonlyArray<readonly [keyof LedgerAccess["counters"], name: string, help: string]> = [
  ["charges", "charges", "Durable charges."],
  ["groups", "groups", "Groups of charges and holds written."],
  ["failed_groups", "failed_groups", "Groups that could not be written, or received no response."],
  ["durable_seconds", "durable_seconds", "Time spent on making groups durable, in seconds."],
  ["refused_insufficient_balance", "refused_insufficient_balance", describeRefused("the balance")],
  ["refused_monthly_spend_cap_reached", "refused_spend_cap_reached", describeRefused("a key's monthly budget")]
]

export const makeMetrics = (
  ledger: Pick<LedgerAccess, "counters">,
  pipeline: RequestPipeline,
  limiter: Limiter,
  swaps: () => number,
  unloggedRequests: () => number,
  signIns: () => SignIns,
  events: () => EventCounts,
  deliveries: Deliveries
): ReadonlyArray<Metric> => [
  makeMetric("gauge", "larder_requests_in_flight", "Calls that are being processed.", pipeline.inFlight),
  makeMetric(
    "gauge",
    "larder_requests_waiting",
    "Calls waiting for capacity of their key or account.",
    limiter.waiting
  ),
  makeMetric("gauge", "larder_unsent_bytes", "Bytes of responses that are not sent yet.", limiter.unsentBytes),
  makeMetric("counter", "larder_generation_swaps_total", "New generations served since the start.", swaps),
  makeMetric(
    "counter",
    "larder_requests_not_logged_total",
    "Completed calls missing from the request log.",
    unloggedRequests
  ),
  ...ledgerCounters.map(([counter, name, help]) =>
    makeMetric("counter", `larder_ledger_${name}_total`, help, () => ledger.counters[counter])
  ),
  makeOutcomeCounter("larder_sign_ins_total", "Attempts to sign in to the console by outcome.", signIns),
  makeOutcomeCounter("larder_webhook_events_total", "Events of the card processor by outcome.", events),
  {
    name: "larder_deliveries_total",
    type: "counter",
    help: "Tries to deliver a notice or a mail by outcome.",
    values: () =>
      Object.entries(deliveries).flatMap(([kind, outcomes]) =>
        Object.entries(outcomes).map(([outcome, count]) => [formatLabels({ kind, outcome }), count] as const)
      )
  }
]

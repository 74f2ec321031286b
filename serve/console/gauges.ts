/**
 * The metrics of `/metrics` besides requests: the pipeline, the ledger, the generation, the request log, sign-ins, and
 * the card processor's events.
 */

import type { Gauge, RequestPipeline, Turns } from "../api/index.ts"
import type { EventCounts } from "../billing/index.ts"
import type { LedgerAccess } from "../ledger/index.ts"
import type { SignIns } from "../people/index.ts"

export const gaugesOf = (
  ledger: LedgerAccess,
  pipeline: RequestPipeline,
  turns: Turns,
  swaps: () => number,
  dropped: () => number,
  signIns: () => SignIns,
  events: () => EventCounts
): ReadonlyArray<Gauge> => [
  gauge("larder_requests_in_flight", "Calls that are being answered.", () => pipeline.inFlight()),
  gauge("larder_requests_waiting", "Calls that wait for room of their key or account.", turns.waiting),
  gauge("larder_unsent_bytes", "Bytes of answers that have not left.", turns.unsentBytes),
  counter("larder_generation_swaps_total", "New generations taken over since the start.", swaps),
  counter("larder_requests_not_logged_total", "Answered calls that the console's list of requests lacks.", dropped),
  counter("larder_ledger_charges_total", "Charges made durable.", () => ledger.counters.commits),
  counter("larder_ledger_groups_total", "Groups of charges and holds written.", () => ledger.counters.groups),
  counter(
    "larder_ledger_failed_groups_total",
    "Groups that could not be written, or got no answer.",
    () => ledger.counters.failed_groups
  ),
  counter(
    "larder_ledger_durable_seconds_total",
    "Time spent on making groups durable.",
    () => ledger.counters.durable_seconds
  ),
  counter(
    "larder_ledger_refused_insufficient_balance_total",
    "Calls refused because the balance would not cover them.",
    () => ledger.counters.refused_insufficient_balance
  ),
  counter(
    "larder_ledger_refused_daily_spend_cap_reached_total",
    "Calls refused because a key's daily budget would not cover them.",
    () => ledger.counters.refused_daily_spend_cap_reached
  ),
  counter(
    "larder_ledger_refused_weekly_spend_cap_reached_total",
    "Calls refused because a key's weekly budget would not cover them.",
    () => ledger.counters.refused_weekly_spend_cap_reached
  ),
  counter(
    "larder_ledger_refused_spend_cap_reached_total",
    "Calls refused because a key's monthly budget would not cover them.",
    () => ledger.counters.refused_monthly_spend_cap_reached
  ),
  byOutcome("larder_sign_ins_total", "Attempts to sign in to the console by outcome.", signIns),
  byOutcome("larder_webhook_events_total", "Events of the card processor by outcome.", events)
]
const gauge = (name: string, help: string, value: () => number): Gauge => ({
  name,
  type: "gauge",
  help,
  values: () => [["", value()]]
})
const counter = (name: string, help: string, value: () => number): Gauge => ({
  name,
  type: "counter",
  help,
  values: () => [["", value()]]
})
const byOutcome = (name: string, help: string, counts: () => SignIns | EventCounts): Gauge => ({
  name,
  type: "counter",
  help,
  values: () => Object.entries(counts()).map(([outcome, count]) => [`{outcome="${outcome}"}`, count])
})

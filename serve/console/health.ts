/**
 * Health, readiness and metrics of the server, for operators and monitoring. Needs no sign-in and contains no account
 * data.
 */
import { version } from "@larder/schemas"
import { type H3, HTTPResponse } from "h3"
import type { Meters, Metric } from "../api/index.ts"

export interface Readiness {
  readonly ready: boolean
  readonly generation: string
  /** Whether each data set is served. */
  readonly data_sets: Readonly<Record<string, boolean>>
  readonly ledger: "writable" | "not writable"
  /** The part of the newest generation that is not served; absent if all of it is served. */
  readonly fault?: string
}

const json = (body: unknown, status: number) =>
  new HTTPResponse(`${JSON.stringify(body)}\n`, {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store" }
  })

export const addHealth = (app: H3, readiness: () => Readiness, meters: Meters, metrics: ReadonlyArray<Metric>) => {
  app.get("/healthz", () => json({ status: "alive", version }, 200))
  app.get("/readyz", () => {
    const { ready, ...about } = readiness()
    const missing = Object.keys(about.data_sets).filter((name) => about.data_sets[name] === false)
    return json({ status: ready ? "ready" : "not ready", ...about, missing }, ready ? 200 : 503)
  })
  app.get(
    "/metrics",
    () =>
      new HTTPResponse(meters.format(metrics), {
        headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" }
      })
  )
}

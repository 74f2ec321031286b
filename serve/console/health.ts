/**
 * Health, readiness and metrics of the server, for operators and monitoring. Needs no sign-in and contains no account
 * data.
 */
import { version } from "@larder/schemas"
import { type H3, HTTPResponse } from "h3"
import type { Meters, Metric } from "../api/index.ts"

export interface Readiness {
  readonly status: "ready" | "not ready" | "stopping"
  readonly generation: string
  /** Whether each data set is served. */
  readonly data_sets: Readonly<Record<string, boolean>>
  readonly ledger: "writable" | "not writable"
  /** The part of the newest generation that is not served; absent if all of it is served. */
  readonly fault?: string
}

const respond = (status: number, type: string, body: string) =>
  new HTTPResponse(body, {
    status,
    headers: { "content-type": type, "content-length": String(Buffer.byteLength(body)), "cache-control": "no-store" }
  })
const json = (status: number, body: unknown) => respond(status, "application/json", `${JSON.stringify(body)}\n`)

export const addHealth = (app: H3, readiness: () => Readiness, meters: Meters, metrics: ReadonlyArray<Metric>) => {
  /** Node sends no body in response to HEAD. */
  const serve = (path: string, handler: () => HTTPResponse) => app.get(path, handler).head(path, handler)

  serve("/healthz", () => json(200, { status: "alive", version }))
  serve("/readyz", () => {
    const about = readiness()
    const missing = Object.keys(about.data_sets).filter((name) => about.data_sets[name] === false)
    return json(about.status === "ready" ? 200 : 503, { ...about, missing })
  })
  serve("/metrics", () => respond(200, "text/plain; version=0.0.4; charset=utf-8", meters.format(metrics)))
}

/**
 * Health, readiness and metrics of the server, for operators and monitoring. Needs no sign-in and contains no account
 * data.
 */
import { version } from "@larder/schemas"
import { countStates, type StateCounts } from "@larder/warehouse"
import { type H3, HTTPResponse } from "h3"
import type { Meters, Metric } from "../api/index.ts"
import type { WarehouseState } from "../monitoring/index.ts"

export interface Readiness {
  readonly status: "ready" | "not ready" | "stopping"
  readonly generation: string
  /** Whether each data set is served. */
  readonly data_sets: Readonly<Record<string, boolean>>
  readonly ledger: "writable" | "not writable"
  /** The part of the newest generation that is not served; absent if all of it is served. */
  readonly fault?: string
  /** What `ingest.freshness` says. Late data does not make a server unready: it serves what it has. */
  readonly freshness: {
    /** When it was read; null if it never could be. */
    readonly read_at: string | null
    /** By data set, how many subjects have each state. */
    readonly states: Readonly<Record<string, StateCounts>>
    /** Absent if the last read succeeded. */
    readonly fault?: string
  }
}

/** For `/readyz`, which needs no sign-in: the cause of a fault names files, and is only logged. */
export const describeFreshness = ({ fault, freshness, read_at }: WarehouseState): Readiness["freshness"] => {
  const byPipeline = Map.groupBy(freshness, ({ pipeline }) => pipeline)
  return {
    read_at: read_at ?? null,
    states: Object.fromEntries(
      [...byPipeline].map(([pipeline, rows]) => [pipeline.replaceAll("-", "_"), countStates(rows)])
    ),
    ...(fault === undefined ? {} : { fault: "ingest.freshness could not be read: see the log" })
  }
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

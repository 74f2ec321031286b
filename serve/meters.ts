/**
 * What the server counts, and its Prometheus text. Counting is a few additions per request; endpoints and statuses are the
 * only labels, so that the number of lines stays small and no key, account or path of a caller can appear.
 */

/** Upper bounds in seconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

interface Durations {
  readonly counts: Array<number>
  sum: number
  total: number
}

export interface Gauge {
  readonly name: string
  readonly type: "counter" | "gauge"
  readonly help: string
  readonly value: () => number
}

export const makeMeters = () => {
  const requests = new Map<string, Map<number, number>>()
  const durations = new Map<string, Durations>()

  const answered = (endpoint: string, status: number, milliseconds: number) => {
    const byStatus = requests.get(endpoint) ?? new Map<number, number>()
    requests.set(endpoint, byStatus)
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1)
    const took = durations.get(endpoint) ?? { counts: buckets.map(() => 0), sum: 0, total: 0 }
    durations.set(endpoint, took)
    const seconds = milliseconds / 1000
    const bucket = buckets.findIndex((bound) => seconds <= bound)
    if (bucket >= 0) took.counts[bucket] = (took.counts[bucket] ?? 0) + 1
    took.sum += seconds
    took.total++
  }

  const durationLines = (endpoint: string, { counts, sum, total }: Durations) => {
    let below = 0
    const lines = buckets.map((bound, index) => {
      below += counts[index] ?? 0
      return `larder_request_seconds_bucket{endpoint="${endpoint}",le="${bound}"} ${below}`
    })
    return [
      ...lines,
      `larder_request_seconds_bucket{endpoint="${endpoint}",le="+Inf"} ${total}`,
      `larder_request_seconds_sum{endpoint="${endpoint}"} ${sum}`,
      `larder_request_seconds_count{endpoint="${endpoint}"} ${total}`
    ]
  }

  const text = (gauges: ReadonlyArray<Gauge>) =>
    [
      "# HELP larder_requests_total Answers by endpoint and status.",
      "# TYPE larder_requests_total counter",
      ...[...requests].flatMap(([endpoint, byStatus]) =>
        [...byStatus].map(
          ([status, count]) => `larder_requests_total{endpoint="${endpoint}",status="${status}"} ${count}`
        )
      ),
      "# HELP larder_request_seconds Time from the whole request to its answer, by endpoint.",
      "# TYPE larder_request_seconds histogram",
      ...[...durations].flatMap(([endpoint, took]) => durationLines(endpoint, took)),
      ...gauges.flatMap(({ help, name, type, value }) => [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        `${name} ${value()}`
      ]),
      ""
    ].join("\n")

  return { answered, text }
}

export type Meters = ReturnType<typeof makeMeters>

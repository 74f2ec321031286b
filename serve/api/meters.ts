/** The server's counters, in Prometheus format. No label contains a key, an account or a path. */

/** Upper bounds in seconds. A capture on a fast disk takes 0.2 ms. */
const buckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

interface Durations {
  readonly counts: Array<number>
  sum: number
  total: number
}

const newDurations = (): Durations => ({ counts: buckets.map(() => 0), sum: 0, total: 0 })

const addDuration = (durations: Durations, milliseconds: number) => {
  const seconds = milliseconds / 1000
  const bucket = buckets.findIndex((bound) => seconds <= bound)
  if (bucket >= 0) durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1
  durations.sum += seconds
  durations.total++
}

const formatHistogram = (name: string, labels: string, { counts, sum, total }: Durations) => {
  let cumulative = 0
  const ownLabels = labels === "" ? "" : `{${labels.slice(0, -1)}}`
  return [
    ...buckets.map((bound, index) => {
      cumulative += counts[index] ?? 0
      return `${name}_bucket{${labels}le="${bound}"} ${cumulative}`
    }),
    `${name}_bucket{${labels}le="+Inf"} ${total}`,
    `${name}_sum${ownLabels} ${sum}`,
    `${name}_count${ownLabels} ${total}`
  ]
}

/** `{pipeline="commodities"}`. */
export const formatLabels = (labels: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`
  )
  return `{${pairs.join(",")}}`
}

export interface Metric {
  readonly name: string
  readonly type: "counter" | "gauge"
  readonly help: string
  /** One value, or one for each value of a label, such as `{outcome="refused"}`. */
  readonly values: () => ReadonlyArray<readonly [labels: string, value: number]>
}

export const makeMeters = () => {
  const requests = new Map<string, Map<number, number>>()
  const durations = new Map<string, Durations>()
  const captures = newDurations()
  const refusals = new Map([404, 405].map((status) => [status, 0]))

  const countResponse = (endpoint: string, status: number, milliseconds: number) => {
    const byStatus = requests.get(endpoint) ?? new Map<number, number>()
    requests.set(endpoint, byStatus)
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1)
    const endpointDurations = durations.get(endpoint) ?? newDurations()
    durations.set(endpoint, endpointDurations)
    addDuration(endpointDurations, milliseconds)
  }

  /** Of a request that no endpoint handles. Other statuses are not counted: pages of the docs, and preflights. */
  const countRefusal = (status: number) => {
    const count = refusals.get(status)
    if (count !== undefined) refusals.set(status, count + 1)
  }

  const format = (metrics: ReadonlyArray<Metric>) =>
    [
      "# HELP larder_requests_total Responses by endpoint and status.",
      "# TYPE larder_requests_total counter",
      ...[...requests].flatMap(([endpoint, byStatus]) =>
        [...byStatus].map(
          ([status, count]) => `larder_requests_total{endpoint="${endpoint}",status="${status}"} ${count}`
        )
      ),
      "# HELP larder_refused_requests_total Responses to unknown paths (404) and to other methods (405) of the API, by status.",
      "# TYPE larder_refused_requests_total counter",
      ...[...refusals].map(([status, count]) => `larder_refused_requests_total{status="${status}"} ${count}`),
      "# HELP larder_request_seconds Time from the complete request to its response, by endpoint, in seconds.",
      "# TYPE larder_request_seconds histogram",
      ...[...durations].flatMap(([endpoint, endpointDurations]) =>
        formatHistogram("larder_request_seconds", `endpoint="${endpoint}",`, endpointDurations)
      ),
      "# HELP larder_commit_seconds Time from a finished read to its durable charge, in seconds.",
      "# TYPE larder_commit_seconds histogram",
      ...formatHistogram("larder_commit_seconds", "", captures),
      ...metrics.flatMap(({ help, name, type, values }) => [
        `# HELP ${name} ${help}`,
        `# TYPE ${name} ${type}`,
        ...values().map(([labels, value]) => `${name}${labels} ${value}`)
      ]),
      ""
    ].join("\n")

  return {
    countResponse,
    countRefusal,
    timeCapture: (milliseconds: number) => addDuration(captures, milliseconds),
    format
  }
}

export type Meters = ReturnType<typeof makeMeters>

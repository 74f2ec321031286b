/** Durations of commits between two readings of a server's metrics. */
interface Histogram {
  /** Upper bound in milliseconds, and the number of commits up to it. */
  readonly buckets: ReadonlyArray<{ readonly bound: number; readonly count: number }>
  readonly count: number
  readonly sum: number
}

export const readCommits = async (consoleUrl: string): Promise<Histogram> => {
  const text = await (await fetch(`${consoleUrl}/metrics`)).text()
  const buckets = [...text.matchAll(/^larder_commit_seconds_bucket\{le="([\d.]+)"\} (\d+)$/gm)]
  const value = (name: string) => Number(new RegExp(`^larder_commit_seconds_${name} (\\S+)$`, "m").exec(text)?.[1] ?? 0)
  return {
    buckets: buckets.map(([, bound, count]) => ({ bound: Number(bound) * 1000, count: Number(count) })),
    count: value("count"),
    sum: value("sum") * 1000
  }
}

export interface Commits {
  readonly commit_mean_ms: number
  /** Upper bound of the bucket with the 99th percentile. */
  readonly commit_p99_ms: string
}

export const subtract = (before: Histogram, after: Histogram): Commits => {
  const count = after.count - before.count
  const p99 = after.buckets.find(
    ({ count: cumulative }, index) => cumulative - (before.buckets[index]?.count ?? 0) >= count * 0.99
  )
  return {
    commit_mean_ms: count === 0 ? 0 : Number(((after.sum - before.sum) / count).toFixed(2)),
    commit_p99_ms: p99 === undefined ? "> 5 s" : `≤ ${p99.bound}`
  }
}

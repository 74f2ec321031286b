/** How long commits took between two looks at a server's metrics. */
interface Histogram {
  /** Upper bound in milliseconds, and how many commits took no longer. */
  readonly buckets: ReadonlyArray<{ readonly bound: number; readonly count: number }>
  readonly count: number
  readonly sum: number
}

export const readCommits = async (console: string): Promise<Histogram> => {
  const text = await (await fetch(`${console}/metrics`)).text()
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
  /** Ninety-nine of a hundred took no longer: the upper bound of their bucket. */
  readonly commit_p99_ms: string
}

export const between = (before: Histogram, after: Histogram): Commits => {
  const count = after.count - before.count
  const p99 = after.buckets.find(
    ({ count: reached }, index) => reached - (before.buckets[index]?.count ?? 0) >= count * 0.99
  )
  return {
    commit_mean_ms: count === 0 ? 0 : Number(((after.sum - before.sum) / count).toFixed(2)),
    commit_p99_ms: p99 === undefined ? "> 5 s" : `≤ ${p99.bound}`
  }
}

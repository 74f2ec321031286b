/** Load from this process on one address: 64 connections, one request after the other on each. */
import autocannon from "autocannon"

export interface Measured {
  readonly requests_per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly failed: number
}

export interface Load {
  readonly url: string
  readonly key: string
  readonly seconds: number
  readonly connections?: number
}

export const load = async ({ connections = 64, key, seconds, url }: Load): Promise<Measured> => {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    headers: { authorization: `Bearer ${key}` }
  })
  return {
    requests_per_second: result.requests.average,
    p50_ms: result.latency.p50,
    p99_ms: result.latency.p99,
    failed: result.non2xx + result.errors + result.timeouts
  }
}

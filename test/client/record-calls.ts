/** Records the client's calls through `fetch`. Their responses are checked, and their charges recorded, as usual. */
import { afterAll, beforeAll, vi } from "vitest"
import type { SharedServer } from "../support/api/server.ts"

export interface RecordedCall {
  /** Path and query as they were sent. */
  readonly target: string
  readonly status: number
}

/** Uses the file's hooks. The returned list grows with each call. */
export const recordCalls = (api: SharedServer): ReadonlyArray<RecordedCall> => {
  const calls: Array<RecordedCall> = []
  beforeAll(() => {
    const original = globalThis.fetch
    vi.stubGlobal("fetch", async (address: string, options: RequestInit) => {
      const response = await original(address, options)
      const { origin, pathname, search } = new URL(address)
      if (origin === api.server().api) {
        const target = `${pathname}${search}`
        const text = await response.clone().text()
        const headers = Object.fromEntries(response.headers)
        api.client().checkAndRecord("GET", target, { status: response.status, headers, text, json: JSON.parse(text) })
        calls.push({ target, status: response.status })
      }
      return response
    })
  })
  afterAll(() => {
    vi.unstubAllGlobals()
  })
  return calls
}

/** The calls of the client as they pass through `fetch`: judged like all others, and their charges remembered. */
import { afterAll, beforeAll, vi } from "vitest"
import type { SharedServer } from "../support/api/server.ts"

export interface Seen {
  /** Path and query, as they were sent. */
  readonly target: string
  readonly status: number
}

/** Registers with the file's hooks; what it returns holds the calls so far. */
export const witnessed = (api: SharedServer): ReadonlyArray<Seen> => {
  const seen: Array<Seen> = []
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
        seen.push({ target, status: response.status })
      }
      return response
    })
  })
  afterAll(() => {
    vi.unstubAllGlobals()
  })
  return seen
}

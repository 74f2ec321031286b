/** Follows `next_cursor` until it is null, as a client does. */
import { expect } from "vitest"
import type { Reply } from "./check-response.ts"

interface Page {
  readonly data: ReadonlyArray<unknown>
  readonly next_cursor: string | null
}

/** Returns the rows of every page, page by page. `between` runs between two pages. */
export const fetchPages = async (
  get: (target: string) => Promise<Reply>,
  target: string,
  between: () => Promise<void> = () => Promise.resolve()
): Promise<ReadonlyArray<Page["data"]>> => {
  const pages: Array<Page["data"]> = []
  let cursor: string | null = ""
  do {
    if (pages.length > 0) await between()
    const reply: Reply = await get(`${target}&cursor=${cursor}`)
    expect(reply.status).toBe(200)
    const page = reply.json as Page
    pages.push(page.data)
    cursor = page.next_cursor
  } while (cursor !== null && pages.length < 100)
  return pages
}

/** Lists that are shown one page at a time. The address of a page contains its place in the list. */
import { type Html, html } from "./html.ts"

/** A path with the parameters that have a value. */
export const pathWithQuery = (path: string, parameters: Readonly<Record<string, string | undefined>>): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value)
  return query.size === 0 ? path : `${path}?${query}`
}

/** Makes a page of rows that were queried with `limit + 1`. `last` is its last row if more rows follow. */
export const takePage = <A>(rows: ReadonlyArray<A>, limit: number) => ({
  rows: rows.slice(0, limit),
  last: rows.length > limit ? rows[limit - 1] : undefined
})

/** Links to other pages, if any. `label` distinguishes several lists on one page. */
export const paging = ({
  label = "Pages",
  ...to
}: {
  readonly label?: string
  /** Addresses of the first, the previous and the next page. */
  readonly newest?: string | undefined
  readonly newer?: string | undefined
  readonly older?: string | undefined
}): Html | false => {
  const link = (text: string, href: string | undefined, rel: "first" | "prev" | "next") =>
    href !== undefined && html`<a class="button plain" rel="${rel}" href="${href}">${text}</a>`
  const links = [link("Newest", to.newest, "first"), link("Newer", to.newer, "prev"), link("Older", to.older, "next")]
  return links.some(Boolean) && html`<nav class="paging" aria-label="${label}">${links}</nav>`
}

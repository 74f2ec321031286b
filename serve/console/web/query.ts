/** The query of an address: filters, and the position in a list that is shown one page at a time. */
import { Effect, Record } from "effect"
import { type Html, html } from "./html.ts"
import { PageNotFound } from "./page.ts"

type QueryParameters = Readonly<Record<string, string | undefined>>

/** A path with the parameters that have a value. */
export const makePath = (path: string, parameters: QueryParameters): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value) query.set(name, value)
  return query.size === 0 ? path : `${path}?${query}`
}

/** A parameter of the query; undefined if it is missing or empty. */
export const readParameter = (url: URL, name: string): string | undefined =>
  url.searchParams.get(name)?.trim() || undefined

/** A parameter with a value from a list; other values return 404. */
export const readChoice = (
  url: URL,
  name: string,
  allowed: ReadonlyArray<string>
): Effect.Effect<string | undefined, PageNotFound> => {
  const value = readParameter(url, name)
  return value === undefined || allowed.includes(value) ? Effect.succeed(value) : Effect.fail(new PageNotFound())
}

/** The target after signing in: a path of the console, or the overview if the text is anything else. */
export const readNextPath = (text: string | null): `/${string}` => {
  if (text === null || !text.startsWith("/")) return "/"
  const url = URL.parse(text, "http://console.invalid")
  // `//host`, `/\host` and similar paths lead to another origin
  return url?.origin === "http://console.invalid" && !url.pathname.startsWith("//")
    ? `/${url.pathname.slice(1)}${url.search}`
    : "/"
}

export type Filters<Name extends string> = { readonly [_ in Name]?: string | undefined }
export interface PageLimit {
  readonly limit: number
}

/** Parameters of an SQL statement that ignores a filter if it is null. */
export const toParameters = <Name extends string>(filters: Readonly<Record<Name, string | undefined>>) =>
  Record.map(filters, (value) => value ?? null)

/** Reads one row more than the page has. `last` is the last row of the page if more rows follow. */
export const readPage = <A, E, R>(limit: number, read: (limit: number) => Effect.Effect<ReadonlyArray<A>, E, R>) =>
  Effect.map(read(limit + 1), (rows) => ({
    rows: rows.slice(0, limit),
    last: rows.length > limit ? rows[limit - 1] : undefined
  }))

/** Links to other pages of a list, if any. `label` distinguishes several lists on one page. */
export const paging = ({
  label = "Pages",
  newer,
  newest,
  older
}: {
  readonly label?: string
  /** Addresses of the first, the previous and the next page. */
  readonly newest?: string | undefined
  readonly newer?: string | undefined
  readonly older?: string | undefined
}): Html | false => {
  const link = (text: string, href: string | undefined, rel: "first" | "prev" | "next") =>
    href !== undefined && html`<a class="button plain" rel="${rel}" href="${href}">${text}</a>`
  const links = [link("Newest", newest, "first"), link("Newer", newer, "prev"), link("Older", older, "next")]
  return links.some(Boolean) && html`<nav class="paging" aria-label="${label}">${links}</nav>`
}

/** Links of a filtered list. `older` are the parameters of the next page, if there is one. */
export const listPaging = (
  path: string,
  filters: QueryParameters,
  isNewest: boolean,
  older: QueryParameters | undefined
) =>
  paging({
    newest: isNewest ? undefined : makePath(path, filters),
    older: older && makePath(path, { ...filters, ...older })
  })

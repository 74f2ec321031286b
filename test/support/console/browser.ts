/** Browsers without a screen that sign in to a console: cookies, forms, redirects by hand. */

export interface Seen {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Where a redirect leads. */
  readonly location: string | null
}

export type Fields = Readonly<Record<string, string | ReadonlyArray<string>>>

const body = (fields: Fields) =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value]))
  )

export const makeBrowser = (url: string, origin = url) => {
  const cookies = new Map<string, string>()
  const ask = async (target: string, init: RequestInit = {}): Promise<Seen> => {
    const response = await fetch(new URL(target, url), {
      redirect: "manual",
      ...init,
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "), ...init.headers }
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (/Max-Age=0/.test(cookie)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return {
      status: response.status,
      headers: response.headers,
      text: await response.text(),
      location: response.headers.get("location")
    }
  }
  return {
    cookies,
    ask,
    get: (target: string) => ask(target),
    post: (target: string, fields: Fields, headers: Readonly<Record<string, string>> = { origin }) =>
      ask(target, { method: "POST", body: body(fields), headers })
  }
}
export type Browser = ReturnType<typeof makeBrowser>

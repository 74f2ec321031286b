/** HTTP clients that sign in to a console like a browser: they keep cookies and send forms, but follow no redirects. */

export interface PageResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The target of a redirect. */
  readonly location: string | null
}

export type Fields = Readonly<Record<string, string | ReadonlyArray<string>>>

const encodeForm = (fields: Fields) =>
  new URLSearchParams(
    Object.entries(fields).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value]))
  )

export const makeBrowser = (url: string, origin = url) => {
  const cookies = new Map<string, string>()
  const request = async (target: string, init: RequestInit = {}): Promise<PageResponse> => {
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
    request,
    get: (target: string) => request(target),
    post: (target: string, fields: Fields, headers: Readonly<Record<string, string>> = { origin }) =>
      request(target, { method: "POST", body: encodeForm(fields), headers })
  }
}
export type Browser = ReturnType<typeof makeBrowser>

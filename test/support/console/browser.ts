/** HTTP clients that sign in to a console like a browser: they keep cookies and send forms, but follow no redirects. */
import { readHiddenFields } from "./pages.ts"

/** The name of the cookie of a session, for a console without a public address. */
export const nameSessionCookie = (url: string) => `larder_session_${new URL(url).host.replace(":", "_")}`

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

/** Browsers with the same `cookies` are one browser at several addresses. */
export const makeBrowser = (url: string, origin = url, cookies = new Map<string, string>()) => {
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
  const get = (target: string) => request(target)
  /** Sends exactly these fields. */
  const post = (target: string, fields: Fields, headers: Readonly<Record<string, string>> = { origin }) =>
    request(target, { method: "POST", body: encodeForm(fields), headers })
  return {
    cookies,
    request,
    get,
    post,
    /** Opens a page and sends its form, with its hidden fields. `page` is the page if the form leads to another address. */
    submit: async (target: string, fields: Fields = {}, page = target) =>
      post(target, { ...readHiddenFields((await get(page)).text), ...fields })
  }
}
export type Browser = ReturnType<typeof makeBrowser>

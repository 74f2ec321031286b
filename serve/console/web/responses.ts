/** Answers of pages as responses. */
import { type H3Event, HTTPResponse } from "h3"
import { chooseCoding, compress, minCompressedBytes } from "../../api/index.ts"
import type { Cookies } from "./cookies.ts"
import { originOf } from "./guard.ts"
import { type Html, html, linkButton } from "./html.ts"
import { documentOf, type NavigationItem, type Signed } from "./layout.ts"
import type { Answer, Flash } from "./page.ts"

type Headers = Array<[string, string]>

/** The context that a page is shown in. */
export interface Frame {
  readonly path: string
  readonly signed: Signed | undefined
  readonly navigation: ReadonlyArray<NavigationItem>
  /** The notice about bundled samples above the page. */
  readonly samples: string | undefined
}

/** Removes every character that could break the header, although file names are not user input. */
const fileName = (name: string) => name.replace(/[^A-Za-z0-9._-]/g, "_")

export const makeResponses = (
  cookies: Cookies,
  always: Readonly<Record<string, string>>,
  publicUrl: string | undefined
) => {
  const headersOf = (more: ReadonlyArray<readonly [string, string]>): Headers => [
    ...Object.entries(always),
    ...more.map(([name, value]): [string, string] => [name, value])
  ]
  const empty = (status: number, more: ReadonlyArray<readonly [string, string]>) =>
    new HTTPResponse(null, { status, headers: headersOf([...more, ["content-length", "0"]]) })

  /** Plain text, for programs and their logs. */
  const line = (status: number, text: string) =>
    new HTTPResponse(`${text}\n`, { status, headers: headersOf([["content-type", "text/plain; charset=utf-8"]]) })

  const document = async (
    event: H3Event,
    frame: Frame,
    { body, status, title }: { readonly body: Html; readonly status: number; readonly title: string },
    more: ReadonlyArray<readonly [string, string]> = []
  ) => {
    const flash = cookies.flashOf(event)
    const text = await documentOf({ ...frame, title, body, flash })
    const headers = headersOf([
      ["content-type", "text/html; charset=utf-8"],
      ["vary", "Accept-Encoding"],
      ...(flash === undefined ? [] : [["set-cookie", cookies.dropFlash] as const]),
      ...more
    ])
    // an answer to a form may contain a new key next to the person's own text: its compressed length would leak
    // information about the key
    const isCompressible = event.req.method === "GET" && text.length >= minCompressedBytes
    const coding = isCompressible ? chooseCoding(event.req.headers.get("accept-encoding")) : undefined
    if (coding === undefined) return new HTTPResponse(text, { status, headers })
    return new HTTPResponse(await compress(Buffer.from(text), coding), {
      status,
      headers: [...headers, ["content-encoding", coding]]
    })
  }

  const redirect = (to: string, flash: Flash | undefined, more: ReadonlyArray<readonly [string, string]> = []) =>
    empty(303, [
      ["location", to],
      ...(flash === undefined ? [] : [["set-cookie", cookies.setFlash(flash)] as const]),
      ...more
    ])

  /**
   * The content security policy forbids a redirect to another site after a form. A page may lead there, so this page
   * refreshes to the target, and has a link.
   */
  const leadOn = (event: H3Event, frame: Frame, url: string) => {
    const { hostname, href } = new URL(url)
    const body = html`<div class="card stack"><p>The page at ${hostname} opens now.</p>
<div class="row">${linkButton(href, "Continue", "primary")}</div></div>`
    return document(event, frame, { status: 200, title: "Continue to the card page", body }, [
      ["refresh", `0; url=${href}`]
    ])
  }

  const answered = (event: H3Event, frame: Frame, answer: Answer) => {
    switch (answer.kind) {
      case "page": {
        const { retry_after } = answer
        const later = retry_after === undefined ? [] : [["retry-after", String(retry_after)] as const]
        return document(event, frame, answer, later)
      }
      case "redirect":
        return redirect(answer.to, answer.flash)
      case "signed-in":
        return redirect(
          answer.to,
          answer.flash,
          cookies.setSignedIn(answer.signedIn).map((cookie) => ["set-cookie", cookie] as const)
        )
      case "leave":
        return URL.parse(answer.url)?.origin === originOf(event, publicUrl)
          ? redirect(answer.url, undefined)
          : leadOn(event, frame, answer.url)
      case "download":
        return new HTTPResponse(answer.body, {
          headers: headersOf([
            ["content-type", answer.type],
            ["content-disposition", `attachment; filename="${fileName(answer.name)}"`]
          ])
        })
    }
  }

  /** A complete document. */
  const whole = async (status: number, body: Html) =>
    new HTTPResponse(String(await body), { status, headers: headersOf([["content-type", "text/html; charset=utf-8"]]) })

  return { answered, document, empty, line, redirect, whole }
}
export type Responses = ReturnType<typeof makeResponses>

/** Converts the results of pages to responses. */
import { type H3Event, HTTPResponse } from "h3"
import { chooseCoding, compress, minCompressedBytes } from "../../api/index.ts"
import type { Cookies } from "./cookies.ts"
import { findConsoleOrigin } from "./guard.ts"
import { html, linkButton } from "./html.ts"
import { type Frame, renderLayout } from "./layout.ts"
import { type Flash, type PageResult, type ShownPage, show } from "./page.ts"

type Header = readonly [name: string, value: string]
const htmlType: Header = ["content-type", "text/html; charset=utf-8"]

/** Removes every character that could break the header, although file names are not user input. */
const safeFileName = (name: string) => name.replace(/[^A-Za-z0-9._-]/g, "_")

export const makeResponses = (
  cookiesFor: (event: H3Event) => Cookies,
  securityHeaders: Readonly<Record<string, string>>,
  publicUrl: string | undefined
) => {
  const respond = (status: number, body: HTTPResponse["body"], extraHeaders: ReadonlyArray<Header>) =>
    new HTTPResponse(body, {
      status,
      headers: [...Object.entries(securityHeaders), ...extraHeaders].map(([name, value]): [string, string] => [
        name,
        value
      ])
    })
  const empty = (status: number, extraHeaders: ReadonlyArray<Header> = []) =>
    respond(status, null, [...extraHeaders, ["content-length", "0"]])

  /** For programs and their logs. */
  const plainText = (status: number, text: string) =>
    respond(status, `${text}\n`, [["content-type", "text/plain; charset=utf-8"]])

  const page = async (event: H3Event, frame: Frame, shown: ShownPage, extraHeaders: ReadonlyArray<Header> = []) => {
    const { retry_after, status } = shown
    const cookies = cookiesFor(event)
    const flash = cookies.readFlash(event)
    const document = await renderLayout(frame, shown, flash)
    const headers: ReadonlyArray<Header> = [
      htmlType,
      ["vary", "Accept-Encoding"],
      ...(flash === undefined ? [] : [["set-cookie", cookies.flashDeletion] as const]),
      ...(retry_after === undefined ? [] : [["retry-after", String(retry_after)] as const]),
      ...extraHeaders
    ]
    // the response to a form may contain a new key next to the person's own text: its compressed length would leak
    // information about the key
    const isCompressible = event.req.method === "GET" && document.length >= minCompressedBytes
    const coding = isCompressible ? chooseCoding(event.req.headers.get("accept-encoding")) : undefined
    return coding === undefined
      ? respond(status, document, headers)
      : respond(status, await compress(Buffer.from(document), coding), [...headers, ["content-encoding", coding]])
  }

  const redirect = (event: H3Event, to: string, flash?: Flash, extraCookies: ReadonlyArray<string> = []) => {
    const flashCookies = flash === undefined ? [] : [cookiesFor(event).makeFlashCookie(flash)]
    const setCookies = [...flashCookies, ...extraCookies].map((cookie): Header => ["set-cookie", cookie])
    return empty(303, [["location", to], ...setCookies])
  }

  /** The content security policy forbids a redirect of a form to another site. A `refresh` header opens that site. */
  const redirectWithPage = (event: H3Event, frame: Frame, url: string) => {
    const { hostname, href } = new URL(url)
    const body = html`<div class="card stack"><p>The page at ${hostname} opens now.</p>
<div class="row">${linkButton(href, "Continue", "primary")}</div></div>`
    return page(event, frame, show("Continue to the card page", body), [["refresh", `0; url=${href}`]])
  }

  const pageResult = async (event: H3Event, frame: Frame, result: PageResult) => {
    switch (result.kind) {
      case "page":
        return page(event, frame, result)
      case "document":
        return respond(result.status, String(await result.body), [htmlType])
      case "redirect":
        return redirect(event, result.to, result.flash)
      case "signed-in":
        return redirect(event, result.to, result.flash, cookiesFor(event).makeSignInCookies(result.signedIn))
      case "signed-out": {
        const flash: Flash = { tone: "good", text: "You are signed out." }
        return redirect(event, "/sign-in", flash, [cookiesFor(event).sessionDeletion])
      }
      case "leave":
        return URL.parse(result.url)?.origin === findConsoleOrigin(event, publicUrl)
          ? redirect(event, result.url)
          : redirectWithPage(event, frame, result.url)
      case "download":
        return respond(200, result.body, [
          ["content-type", result.type],
          ["content-disposition", `attachment; filename="${safeFileName(result.name)}"`]
        ])
    }
  }

  return { empty, page, pageResult, plainText, redirect }
}

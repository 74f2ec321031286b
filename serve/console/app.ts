/**
 * The console listener: health endpoints for monitoring, pages for people. It identifies the signed-in person, rejects
 * forms that were not sent from its own pages or that were opened by another person, runs the pages, and shows failures
 * as pages.
 */
import type { BlockList } from "node:net"
import { Cause, Effect, Exit, Redacted } from "effect"
import { H3, type H3Event, HTTPResponse } from "h3"
import { type Meters, type Metric, newRequestId } from "../api/index.ts"
import { Billing, EventRejected } from "../billing/index.ts"
import type { Administration } from "../ledger/index.ts"
import { People } from "../people/index.ts"
import { Actor } from "../persistence/index.ts"
import { invitationPage } from "./account/invitation.ts"
import { signInPage } from "./account/sign-in.ts"
import { signOutPage } from "./account/sign-out.ts"
import { rechargeStopNotice } from "./billing/auto-recharge.ts"
import { addHealth, type Readiness } from "./health.ts"
import { findSignedIn, readAccount, type SignedIn } from "./signed-in.ts"
import { assets } from "./web/assets.ts"
import { makeCookies } from "./web/cookies.ts"
import {
  crossOriginFormPage,
  faultPage,
  isTemporary,
  methodNotAllowedPage,
  notFoundPage,
  otherOwnersFormPage,
  unavailablePage,
  unreadableFormPage
} from "./web/error-pages.ts"
import { isOwnForm, type SentForm } from "./web/form.ts"
import {
  findConsoleOrigin,
  isFromConsole,
  makeAddressFinder,
  makeSecurityHeaders,
  readBody,
  readForm
} from "./web/guard.ts"
import type { Frame } from "./web/layout.ts"
import {
  type Page,
  type PageContext,
  PageNotFound,
  type PageResult,
  type PublicContext,
  type PublicPage,
  type ShownPage
} from "./web/page.ts"
import { makeResponses } from "./web/responses.ts"

/** The services of the console and, as `R`, of its pages. */
type Services<R> = R | Administration | Billing | People

interface ConsoleNeeds<R> {
  readonly readiness: () => Readiness
  readonly meters: Meters
  readonly metrics: ReadonlyArray<Metric>
  readonly pages: ReadonlyArray<Page<R>>
  readonly run: <A, E>(
    effect: Effect.Effect<A, E, Services<R>>,
    options?: { readonly signal?: AbortSignal }
  ) => Promise<Exit.Exit<A, E>>
  readonly report: (message: string, about: Readonly<Record<string, unknown>>, cause: Cause.Cause<unknown>) => void
  readonly now: () => number
  /** Public address of the console, if it is set. */
  readonly publicUrl: string | undefined
  readonly trustedProxies: BlockList
  /** Address of the API for examples, derived from the host of the request. */
  readonly apiFor: (host: string | null) => string
  /** The notice about bundled samples; undefined if none are served now. */
  readonly sampleNotice: () => string | undefined
  /** The card processor in use, as named in the address of its webhook. */
  readonly processor: string
  /** Whether mails are sent about accounts. */
  readonly sendsMail: boolean
  /** In addition to those that every console has. */
  readonly publicPages: ReadonlyArray<PublicPage>
}

/** Stripe's events have a few kilobytes. */
const maxWebhookBytes = 1_048_576

/**
 * True for a control character in the path or the query: no page links to such an address, and PostgreSQL rejects NUL
 * in text.
 */
const hasControlCharacter = ({ pathname, search }: URL) => /%([01][\da-f]|7f)/i.test(pathname + search)

const decode = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
const readParams = (event: H3Event) =>
  Object.fromEntries(Object.entries(event.context.params ?? {}).map(([name, value]) => [name, decode(value)]))

const isReading = (event: H3Event) => event.req.method === "GET" || event.req.method === "HEAD"

/** The query of the page that contained the form; forms are sent to the page's address without its query. */
const findFormQuery = ({ req, url }: H3Event): string => {
  const page = URL.parse(req.headers.get("referer") ?? "")
  return page?.pathname === url.pathname ? page.search : ""
}

interface AllowedMethods {
  readonly get?: unknown
  readonly post?: unknown
}

export const makeConsole = <R>(needs: ConsoleNeeds<R>) => {
  type ServedPage = Page<Services<R>>
  const { now, pages, publicUrl, report, run } = needs
  const isSecure = publicUrl?.startsWith("https:") === true
  const cookiesFor = (event: H3Event) => makeCookies(findConsoleOrigin(event, publicUrl))
  const responses = makeResponses(cookiesFor, makeSecurityHeaders(isSecure), publicUrl)
  const apiFor = (event: H3Event) =>
    needs.apiFor(publicUrl === undefined ? event.req.headers.get("host") : new URL(publicUrl).host)
  const findAddress = makeAddressFinder(needs.trustedProxies, (warning) => run(Effect.logWarning(warning)))
  const listNavigation = (isOperator: boolean) =>
    pages.flatMap(({ nav, operatorsOnly, path }) =>
      nav === undefined || (operatorsOnly && !isOperator) ? [] : [{ path, label: nav }]
    )
  const makePublicFrame = (event: H3Event): Frame => ({ path: event.url.pathname, navigation: [] })
  const makeFrame = (
    event: H3Event,
    { account, formOwner, person, rechargeStop }: SignedIn,
    page?: ServedPage
  ): Frame => ({
    path: event.url.pathname,
    signedIn: { account, formOwner, person, api: apiFor(event) },
    navigation: listNavigation(person.is_operator),
    rechargeNotice: rechargeStop === undefined ? undefined : rechargeStopNotice(rechargeStop),
    sampleNotice: page?.showsSampleNotice ? needs.sampleNotice() : undefined
  })

  const showPublic = (event: H3Event, page: ShownPage) => responses.page(event, makePublicFrame(event), page)

  /** Reports a failure to the operator, unless the page does not exist or the client has disconnected. */
  const showFailure = (event: H3Event, frame: Frame, path: string, cause: Cause.Cause<unknown>) => {
    if (Cause.hasInterruptsOnly(cause)) return responses.empty(499) // the client has disconnected
    const error = Cause.squash(cause)
    if (error instanceof PageNotFound) return responses.page(event, frame, notFoundPage)
    const reference = newRequestId()
    // not the URL: the URL of an invitation contains its secret
    report("a page of the console failed", { page: path, method: event.req.method, reference }, cause)
    return responses.page(event, frame, isTemporary(error) ? unavailablePage : faultPage(reference))
  }

  /** After signing in, the person returns to the page, or to the page of the form. Typed values are lost. */
  const redirectToSignIn = (event: H3Event, { get, path }: ServedPage) => {
    if (path === signOutPage.path) return responses.pageResult(event, makePublicFrame(event), { kind: "signed-out" })
    const next = event.url.pathname + (event.url.search || findFormQuery(event))
    return responses.redirect(
      event,
      get === undefined || path === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(next)}`,
      isReading(event) ? undefined : { tone: "warning", text: "You are not signed in, so nothing was changed." }
    )
  }

  const rejectMethod = async (event: H3Event, { get, post }: AllowedMethods) => {
    const response = await showPublic(event, methodNotAllowedPage)
    response.headers.set("allow", [...(get ? ["GET", "HEAD"] : []), ...(post ? ["POST"] : [])].join(", "))
    return response
  }

  /** Handles reads, without a form, and forms that were sent from this console. */
  const handle =
    (allowed: AllowedMethods, handler: (event: H3Event, form: SentForm | undefined) => Promise<HTTPResponse>) =>
    async (event: H3Event) => {
      if (isReading(event) && allowed.get) return handler(event, undefined)
      if (event.req.method !== "POST" || !allowed.post) return rejectMethod(event, allowed)
      const origin = findConsoleOrigin(event, publicUrl)
      if (!isFromConsole(event, origin)) return showPublic(event, crossOriginFormPage(origin))
      const form = await readForm(event)
      if (form === "aborted") return responses.empty(499)
      return form === "unreadable" ? showPublic(event, unreadableFormPage) : handler(event, form)
    }

  const runPage = (page: ServedPage, context: PageContext, form: SentForm | undefined) => {
    if (page.operatorsOnly && !context.person.is_operator) return Effect.fail(new PageNotFound())
    const result = form === undefined ? page.get?.(context) : page.post?.({ ...context, form })
    return result ?? Effect.fail(new PageNotFound())
  }

  const serve = (page: ServedPage) =>
    handle(page, async (event, form) => {
      // a client that disconnects does not interrupt a change
      const options = form === undefined ? { signal: event.req.signal } : {}
      const signedIn = await run(findSignedIn(cookiesFor(event).readSession(event)), options)
      if (Exit.isFailure(signedIn)) return showFailure(event, makePublicFrame(event), page.path, signedIn.cause)
      if (signedIn.value === undefined) return redirectToSignIn(event, page)
      const frame = makeFrame(event, signedIn.value, page)
      if (form !== undefined && !isOwnForm(signedIn.value, form)) {
        return responses.page(event, frame, otherOwnersFormPage(signedIn.value))
      }
      const context: PageContext = {
        ...signedIn.value,
        url: event.url,
        params: readParams(event),
        console: findConsoleOrigin(event, publicUrl),
        api: apiFor(event),
        sendsMail: needs.sendsMail,
        now: now()
      }
      const work: Effect.Effect<
        { readonly result: PageResult; readonly frame: Frame },
        unknown,
        Services<R>
      > = Effect.gen(function* () {
        const result = yield* runPage(page, context, form)
        if (!page.mayBookPayment) return { result, frame }
        const current = yield* readAccount(context.account.id)
        return { result, frame: makeFrame(event, { ...context, ...current }, page) }
      }).pipe(Effect.provideService(Actor, context.person.id))
      const exit = await run(work, options)
      return Exit.isSuccess(exit)
        ? responses.pageResult(event, exit.value.frame, exit.value.result)
        : showFailure(event, frame, page.path, exit.cause)
    })

  /** For an address without a page, whether or not the person is signed in. */
  const serveNotFound = async (event: H3Event) => {
    const signedIn = await run(findSignedIn(cookiesFor(event).readSession(event)))
    const isSignedIn = Exit.isSuccess(signedIn) && signedIn.value !== undefined
    const frame = isSignedIn ? makeFrame(event, signedIn.value) : makePublicFrame(event)
    return responses.page(event, frame, notFoundPage)
  }

  const servePublic = (page: PublicPage<Administration | People>) =>
    handle(page, async (event, form) => {
      const session = cookiesFor(event).readSession(event)
      const context: PublicContext = {
        url: event.url,
        params: readParams(event),
        address: findAddress(event),
        session,
        known_browser: cookiesFor(event).readKnownBrowser(event)
      }
      const exit = await run(
        Effect.gen(function* () {
          const result = yield* form === undefined ? page.get(context) : page.post({ ...context, form })
          if (result.kind === "signed-in" && session !== undefined) {
            yield* People.use((people) => people.signOut(Redacted.value(session)))
          }
          return result
        })
      )
      return Exit.isSuccess(exit)
        ? responses.pageResult(event, makePublicFrame(event), exit.value)
        : showFailure(event, makePublicFrame(event), page.path, exit.cause)
    })

  /**
   * Handles an event of the card processor, authenticated by its signature. The processor evaluates only the status, and shows
   * the text to its operator.
   */
  const handleWebhook = async (event: H3Event) => {
    const body = await readBody(event, maxWebhookBytes)
    if (body === "oversized") return responses.empty(413)
    if (body === "aborted") return responses.empty(499)
    const exit = await run(Billing.use((billing) => billing.webhook(body.text, (name) => event.req.headers.get(name))))
    if (Exit.isSuccess(exit)) return responses.empty(204)
    const error = Cause.squash(exit.cause)
    if (error instanceof EventRejected) return responses.plainText(400, error.message)
    report("an event of the card processor was not processed", { path: event.url.pathname }, exit.cause)
    return responses.empty(isTemporary(error) ? 503 : 500) // the processor sends it again
  }

  const app = new H3({
    silent: true,
    allowMalformedURL: true,
    onError: (error, event) => showFailure(event, makePublicFrame(event), "", Cause.die(error))
  })
  app.use((event) => (hasControlCharacter(event.url) ? serveNotFound(event) : undefined))
  addHealth(app, needs.readiness, needs.meters, needs.metrics)
  for (const { body, path, type } of assets) {
    const serveAsset = async (event: H3Event) => {
      const { bytes, coding } = await body.encode(event.req.headers.get("accept-encoding"))
      const headers = {
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
        "content-type": type,
        "cache-control": "public, max-age=31536000, immutable",
        vary: "Accept-Encoding",
        ...(coding !== undefined && { "content-encoding": coding })
      }
      return new HTTPResponse(bytes, { headers })
    }
    app.get(path, serveAsset).head(path, serveAsset)
  }
  for (const page of [signInPage, invitationPage, ...needs.publicPages]) app.all(page.path, servePublic(page))
  app.post(`/webhooks/${needs.processor}`, handleWebhook) // POST /webhooks/stripe, or /webhooks/simulator
  for (const page of [signOutPage, ...pages]) app.all(page.path, serve(page))
  app.all("/**", serveNotFound)
  return app
}

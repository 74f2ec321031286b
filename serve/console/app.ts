/**
 * The console listener: health endpoints for monitoring, pages for people. It identifies the signed-in person, rejects
 * forms that were not sent from its own pages, runs the pages, and turns failures into pages.
 */
import type { BlockList } from "node:net"
import { Cause, Effect, Exit, Option, Redacted } from "effect"
import { H3, type H3Event, HTTPResponse } from "h3"
import { type Gauge, type Meters, newRequestId } from "../api/index.ts"
import { Billing, ForgedEvent } from "../billing/index.ts"
import { Administration, logKeyChanges } from "../ledger/index.ts"
import { People } from "../people/index.ts"
import { invitationPage } from "./account/invitation.ts"
import { signInPage } from "./account/sign-in.ts"
import { addHealth, type Readiness } from "./health.ts"
import type { CheckoutPage } from "./simulator/checkout-page.ts"
import { assets } from "./web/assets.ts"
import { makeCookies } from "./web/cookies.ts"
import type { Form } from "./web/form.ts"
import { addressOf, isFromHere, originOf, readForm, readText, securityHeaders } from "./web/guard.ts"
import { type Answer, type Page, type PageContext, PageNotFound } from "./web/page.ts"
import { isPassing } from "./web/passing.ts"
import type { PublicContext, PublicPage } from "./web/public-page.ts"
import { fault, forged, methodNotAllowed, notFound, type Refusal, unavailable, unreadableForm } from "./web/refusals.ts"
import { type Frame, makeResponses } from "./web/responses.ts"

/** `R` are the services that its pages use. */
export interface ConsoleNeeds<R> {
  readonly readiness: () => Readiness
  readonly meters: Meters
  readonly gauges: ReadonlyArray<Gauge>
  readonly pages: ReadonlyArray<Page<R>>
  readonly run: <A, E>(
    effect: Effect.Effect<A, E, R | Administration | Billing | People>,
    options?: { readonly signal?: AbortSignal }
  ) => Promise<Exit.Exit<A, E>>
  readonly report: (message: string, about: Readonly<Record<string, unknown>>, cause: Cause.Cause<unknown>) => void
  readonly now: () => number
  /** Public address of the console, if it is set. */
  readonly publicUrl: string | undefined
  /** Proxies whose X-Forwarded-For header is trusted. */
  readonly trustedProxies: BlockList
  /** Address of the API for examples, derived from the host by which the person reached the console. */
  readonly apiFor: (host: string | null) => string
  /** The notice about bundled samples that are served at this moment; undefined if none are. */
  readonly samples: () => string | undefined
  /** The card processor in use, as named in the address of its webhook. */
  readonly processor: string
  /** The simulator's payment page, if payments are simulated. */
  readonly checkout?: CheckoutPage | undefined
}

/** Stripe's events have a few kilobytes. */
const mostWebhookBytes = 1_048_576

/**
 * True for a control character in the path or the query: no page links to such an address, and PostgreSQL rejects NUL
 * in text.
 */
const hasControl = ({ pathname, search }: URL) => /%([01][\da-f]|7f)/i.test(pathname + search)

const decoded = (text: string) => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
const paramsOf = (event: H3Event) =>
  Object.fromEntries(Object.entries(event.context.params ?? {}).map(([name, value]) => [name, decoded(value)]))

/** The current person and account of the session; undefined without a valid session. */
const signedInNow = Effect.fnUntraced(function* (session: Redacted.Redacted | undefined) {
  if (session === undefined) return undefined
  const people = yield* People
  const person = yield* people.session(Redacted.value(session))
  if (Option.isNone(person)) return undefined
  const administration = yield* Administration
  const account = yield* administration.account({ account_id: person.value.account_id })
  return { person: person.value, account, session }
})
type SignedInNow = NonNullable<Effect.Success<ReturnType<typeof signedInNow>>>

export const makeConsole = <R>(needs: ConsoleNeeds<R>) => {
  const { now, pages, publicUrl, report, run } = needs
  const secure = publicUrl?.startsWith("https:") === true
  const cookies = makeCookies(secure)
  const responses = makeResponses(cookies, securityHeaders({ secure }), publicUrl)
  const apiFor = (event: H3Event) =>
    needs.apiFor(publicUrl === undefined ? event.req.headers.get("host") : new URL(publicUrl).host)
  const navigationFor = (isOperator: boolean) =>
    pages.flatMap(({ nav, operatorsOnly, path }) =>
      nav === undefined || (operatorsOnly && !isOperator) ? [] : [{ path, label: nav }]
    )
  const outside = (event: H3Event): Frame => ({
    path: event.url.pathname,
    signed: undefined,
    navigation: [],
    samples: undefined
  })
  const refuse = (event: H3Event, frame: Frame, refusal: Refusal) => responses.document(event, frame, refusal)

  /** Turns a failure into a page. Reports it to the operator, unless the page does not exist. */
  const failed = (event: H3Event, frame: Frame, path: string, cause: Cause.Cause<unknown>) => {
    if (Cause.hasInterruptsOnly(cause)) return responses.empty(499, []) // the client has disconnected
    const error = Cause.squash(cause)
    if (error instanceof PageNotFound) return refuse(event, frame, notFound)
    const reference = newRequestId()
    // not the address: that of an invitation contains its secret
    report("a page of the console failed", { page: path, method: event.req.method, reference }, cause)
    return refuse(event, frame, isPassing(error) ? unavailable : fault(reference))
  }

  /** The query of the page that contained the form; forms are sent to the page's address without its query. */
  const queryOfForm = ({ req, url }: H3Event): string => {
    const page = URL.parse(req.headers.get("referer") ?? "")
    return page?.pathname === url.pathname ? page.search : ""
  }

  /**
   * Sends the person to the sign-in, and afterwards back to the page or to the form's page. What was typed there is
   * lost.
   */
  const toSignIn = (event: H3Event, { get, path }: Page<R>) => {
    const { pathname } = event.url
    const search = event.url.search || queryOfForm(event)
    return responses.redirect(
      get === undefined || path === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(pathname + search)}`,
      isReading(event) ? undefined : { tone: "warning", text: "You are not signed in, so nothing was changed." }
    )
  }

  const isReading = (event: H3Event) => event.req.method === "GET" || event.req.method === "HEAD"

  const notAllowed = async (event: H3Event, can: { readonly get?: unknown; readonly post?: unknown }) => {
    const response = await refuse(event, outside(event), methodNotAllowed)
    const allowed = [...(can.get ? ["GET", "HEAD"] : []), ...(can.post ? ["POST"] : [])]
    response.headers.set("allow", allowed.join(", "))
    return response
  }

  /**
   * The form if one was sent from this console, no form for a read, or the response to a request that is not accepted.
   */
  const askedOf = async (event: H3Event, can: { readonly get?: unknown; readonly post?: unknown }) => {
    if (isReading(event) && can.get) return { form: undefined }
    if (event.req.method !== "POST" || !can.post) return notAllowed(event, can)
    const origin = originOf(event, publicUrl)
    if (!isFromHere(event, origin)) return refuse(event, outside(event), forged(origin))
    const form = await readForm(event)
    if (form === "broken off") return responses.empty(499, []) // the client has disconnected
    return form === "unreadable" ? refuse(event, outside(event), unreadableForm) : { form }
  }

  const answerTo = (page: Page<R>, context: PageContext, form: Form | undefined) => {
    if (page.operatorsOnly && !context.person.is_operator) return Effect.fail(new PageNotFound())
    if (form === undefined) return page.get?.(context) ?? Effect.fail(new PageNotFound())
    return page.post?.({ ...context, form }) ?? Effect.fail(new PageNotFound())
  }

  const inside = (event: H3Event, { account, person }: SignedInNow, page?: Page<R>): Frame => ({
    path: event.url.pathname,
    signed: {
      email: person.email,
      account_name: account.name,
      balance_credits: account.balance_credits,
      api: apiFor(event)
    },
    navigation: navigationFor(person.is_operator),
    samples: page?.showsSampleNotice ? needs.samples() : undefined
  })

  const serve = (page: Page<R>) => async (event: H3Event) => {
    const asked = await askedOf(event, page)
    if (asked instanceof HTTPResponse) return asked
    const { form } = asked
    // a client that disconnects does not interrupt a change
    const options = form === undefined ? { signal: event.req.signal } : {}
    const who = await run(signedInNow(cookies.sessionOf(event)), options)
    if (Exit.isFailure(who)) return failed(event, outside(event), page.path, who.cause)
    if (who.value === undefined) return toSignIn(event, page)
    const frame = inside(event, who.value, page)
    const context: PageContext = {
      ...who.value,
      url: event.url,
      params: paramsOf(event),
      console: originOf(event, publicUrl),
      api: apiFor(event),
      now: now()
    }
    const answering = Effect.gen(function* () {
      const answer = yield* answerTo(page, context, form)
      if (!page.books) return { answer, frame }
      const account = yield* Administration.use((ledger) => ledger.account({ account_id: context.account.id }))
      return { answer, frame: inside(event, { ...context, account }, page) }
    }).pipe(Effect.updateService(Administration, (ledger) => logKeyChanges(ledger, context.person.id)))
    const answered: Exit.Exit<{ readonly answer: Answer; readonly frame: Frame }, unknown> = await run(
      answering,
      options
    )
    return Exit.isSuccess(answered)
      ? responses.answered(event, answered.value.frame, answered.value.answer)
      : failed(event, frame, page.path, answered.cause)
  }

  /** For an address without a page, whether or not the person is signed in. */
  const missing = async (event: H3Event) => {
    const who = await run(signedInNow(cookies.sessionOf(event)))
    const frame = Exit.isSuccess(who) && who.value !== undefined ? inside(event, who.value) : outside(event)
    return refuse(event, frame, notFound)
  }

  const servePublic = (page: PublicPage<Administration | People>) => async (event: H3Event) => {
    const asked = await askedOf(event, page)
    if (asked instanceof HTTPResponse) return asked
    const { form } = asked
    const context: PublicContext = {
      url: event.url,
      params: paramsOf(event),
      address: addressOf(event, needs.trustedProxies),
      session: cookies.sessionOf(event),
      known_browser: cookies.knownBrowserOf(event)
    }
    const { session } = context
    const answering = Effect.gen(function* () {
      const answer = yield* form === undefined ? page.get(context) : page.post({ ...context, form })
      if (answer.kind === "signed-in" && session !== undefined) {
        yield* People.use((people) => people.signOut(Redacted.value(session)))
      }
      return answer
    })
    const answered: Exit.Exit<Answer, unknown> = await run(answering)
    return Exit.isSuccess(answered)
      ? responses.answered(event, outside(event), answered.value)
      : failed(event, outside(event), page.path, answered.cause)
  }

  const signOut = async (event: H3Event) => {
    const asked = await askedOf(event, { post: true })
    if (asked instanceof HTTPResponse) return asked
    const token = cookies.sessionOf(event)
    if (token !== undefined) {
      const ended = await run(People.use((people) => people.signOut(Redacted.value(token))))
      if (Exit.isFailure(ended)) return failed(event, outside(event), "/sign-out", ended.cause)
    }
    return responses.redirect("/sign-in", { tone: "good", text: "You are signed out." }, [
      ["set-cookie", cookies.dropSession]
    ])
  }

  const checkoutAt = (page: CheckoutPage) => async (event: H3Event) => {
    const asked = await askedOf(event, { get: true, post: true })
    if (asked instanceof HTTPResponse) return asked
    const { form } = asked
    const { reference = "" } = paramsOf(event)
    const answer = await run(form === undefined ? page.get(reference) : page.post(reference, form))
    if (Exit.isFailure(answer)) return failed(event, outside(event), "/simulator/checkout", answer.cause)
    return answer.value.kind === "leave"
      ? responses.redirect(answer.value.url, undefined)
      : responses.whole(answer.value.status, answer.value.body)
  }

  /**
   * An event of the card processor, authenticated by its signature. The processor evaluates only the status, and shows
   * the text to its operator.
   */
  const webhook = async (event: H3Event) => {
    const body = await readText(event, mostWebhookBytes)
    if (body === "too long") return responses.empty(413, [])
    if (body === "broken off") return responses.empty(499, [])
    const exit = await run(Billing.use((billing) => billing.webhook(body.text, (name) => event.req.headers.get(name))))
    if (Exit.isSuccess(exit)) return responses.empty(204, [])
    const error = Cause.squash(exit.cause)
    if (error instanceof ForgedEvent) return responses.line(400, error.message)
    report("an event of the card processor was not taken", { path: event.url.pathname }, exit.cause)
    return responses.empty(isPassing(error) ? 503 : 500, []) // the processor sends it again
  }

  const app = new H3({
    silent: true,
    allowMalformedURL: true,
    onError: (error, event) => failed(event, outside(event), "", Cause.die(error))
  })
  app.use((event) => (hasControl(event.url) ? missing(event) : undefined))
  addHealth(app, needs.readiness, needs.meters, needs.gauges)
  for (const { body, path, type } of assets) {
    const headers = {
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
      "content-type": type,
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding"
    }
    app.get(path, async (event) => {
      const { bytes, coding } = await body.encode(event.req.headers.get("accept-encoding"))
      const encoding = coding === undefined ? {} : { "content-encoding": coding }
      return new HTTPResponse(bytes, { headers: { ...headers, ...encoding } })
    })
  }
  for (const page of [signInPage, invitationPage]) app.all(page.path, servePublic(page))
  app.all("/sign-out", signOut)
  app.post(`/webhooks/${needs.processor}`, webhook) // POST /webhooks/stripe, or /webhooks/simulator
  if (needs.checkout !== undefined) app.all("/simulator/checkout/:reference", checkoutAt(needs.checkout))
  for (const page of pages) app.all(page.path, serve(page))
  app.all("/**", missing)
  return app
}

/**
 * The console listener: health for machines, pages for people. It knows who is signed in, refuses what no page of its own
 * has sent, runs the pages, and turns what goes wrong into pages, too.
 */
import type { BlockList } from "node:net"
import { Cause, Effect, Exit, Option, Redacted } from "effect"
import { H3, type H3Event, HTTPResponse } from "h3"
import { Billing } from "../billing/billing.ts"
import { ForgedEvent } from "../billing/processor.ts"
import type { CheckoutPage } from "../billing/simulator/checkout-page.ts"
import { Administration } from "../ledger/administration.ts"
import type { Gauge, Meters } from "../meters.ts"
import { notingKeys } from "../noted-keys.ts"
import { People } from "../people/people.ts"
import { newRequestId } from "../request-id.ts"
import { assets } from "./assets.ts"
import { makeCookies } from "./cookies.ts"
import type { Form } from "./form.ts"
import { addressOf, isFromHere, originOf, readForm, readText, securityHeaders } from "./guard.ts"
import { addHealth, type Readiness } from "./health.ts"
import { type Answer, type Page, type PageContext, PageNotFound } from "./page.ts"
import { invitationPage } from "./pages/invitation.ts"
import { signInPage } from "./pages/sign-in.ts"
import { isPassing } from "./passing.ts"
import type { PublicContext, PublicPage } from "./public-page.ts"
import { fault, forged, methodNotAllowed, notFound, type Refusal, unavailable, unreadableForm } from "./refusals.ts"
import { type Frame, makeResponses } from "./responses.ts"

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
  /** Public address of the console, where it was set. */
  readonly publicUrl: string | undefined
  /** Whose X-Forwarded-For is believed. */
  readonly trustedProxies: BlockList
  /** Address of the API, for examples, for who came to the console by this host. */
  readonly apiFor: (host: string | null) => string
  /** What is to be told of the bundled samples that are served at this moment; undefined where there are none. */
  readonly samples: () => string | undefined
  /** The card processor in use, as its events' address names it. */
  readonly processor: string
  /** The simulator's payment page, where cards are simulated. */
  readonly checkout?: CheckoutPage | undefined
}

/** Stripe's events have some kilobytes. */
const mostWebhookBytes = 1_048_576

/** A control character in the path or the query: no page links to such an address, and PostgreSQL takes no NUL as text. */
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

/** The session's person and account, as they are now; undefined where nobody is signed in. */
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

  /** What went wrong, as a page; the operator is told of all that is no mere absence. */
  const failed = (event: H3Event, frame: Frame, path: string, cause: Cause.Cause<unknown>) => {
    if (Cause.hasInterruptsOnly(cause)) return responses.empty(499, []) // nobody is left to read it
    const error = Cause.squash(cause)
    if (error instanceof PageNotFound) return refuse(event, frame, notFound)
    const reference = newRequestId()
    // not the address: an invitation's holds its secret
    report("a page of the console failed", { page: path, method: event.req.method, reference }, cause)
    return refuse(event, frame, isPassing(error) ? unavailable : fault(reference))
  }

  /** The query of the page that a form stood on; forms are sent to the page's bare address. */
  const queryOfForm = ({ req, url }: H3Event): string => {
    const page = URL.parse(req.headers.get("referer") ?? "")
    return page?.pathname === url.pathname ? page.search : ""
  }

  /** Back to the page afterwards, also to that of a form; what was typed there is gone. */
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

  /** The form that was sent from here, none where somebody only reads; or the answer to what is not taken. */
  const askedOf = async (event: H3Event, can: { readonly get?: unknown; readonly post?: unknown }) => {
    if (isReading(event) && can.get) return { form: undefined }
    if (event.req.method !== "POST" || !can.post) return notAllowed(event, can)
    const origin = originOf(event, publicUrl)
    if (!isFromHere(event, origin)) return refuse(event, outside(event), forged(origin))
    const form = await readForm(event)
    if (form === "broken off") return responses.empty(499, []) // nobody is left to read it
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
    samples: page?.tellsOfSamples ? needs.samples() : undefined
  })

  const serve = (page: Page<R>) => async (event: H3Event) => {
    const asked = await askedOf(event, page)
    if (asked instanceof HTTPResponse) return asked
    const { form } = asked
    const options = form === undefined ? { signal: event.req.signal } : {} // who goes away does not break off a change
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
    }).pipe(Effect.updateService(Administration, (ledger) => notingKeys(ledger, context.person.id)))
    const answered: Exit.Exit<{ readonly answer: Answer; readonly frame: Frame }, unknown> = await run(
      answering,
      options
    )
    return Exit.isSuccess(answered)
      ? responses.answered(event, answered.value.frame, answered.value.answer)
      : failed(event, frame, page.path, answered.cause)
  }

  /** Where there is nothing, also for those who are not signed in. */
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

  /** An event of the card processor. It proves by its signature where it comes from. The processor heeds only the status, and shows the rest to its operator. */
  const webhook = async (event: H3Event) => {
    const body = await readText(event, mostWebhookBytes)
    if (body === "too long") return responses.empty(413, [])
    if (body === "broken off") return responses.empty(499, [])
    const exit = await run(Billing.use((billing) => billing.webhook(body.text, (name) => event.req.headers.get(name))))
    if (Exit.isSuccess(exit)) return responses.empty(204, [])
    const error = Cause.squash(exit.cause)
    if (error instanceof ForgedEvent) return responses.line(400, error.message)
    report("an event of the card processor was not taken", { path: event.url.pathname }, exit.cause)
    return responses.empty(isPassing(error) ? 503 : 500, []) // it is sent again
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
      const { bytes, coding } = await body.for(event.req.headers.get("accept-encoding"))
      const encoding = coding === undefined ? {} : { "content-encoding": coding }
      return new HTTPResponse(bytes, { headers: { ...headers, ...encoding } })
    })
  }
  for (const page of [signInPage, invitationPage]) app.all(page.path, servePublic(page))
  app.all("/sign-out", signOut)
  app.post(`/webhooks/${needs.processor}`, webhook)
  if (needs.checkout !== undefined) app.all("/simulator/checkout/:reference", checkoutAt(needs.checkout))
  for (const page of pages) app.all(page.path, serve(page))
  app.all("/**", missing)
  return app
}

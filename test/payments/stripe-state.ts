/**
 * What Stripe does, as far as payments of this project go, with the refusals that its
 * documentation names and its test cards. Kept in memory.
 */
import { randomBytes } from "node:crypto"
import { findTestCard, type TestCard, type TestCardName, testCards } from "@larder/serve/billing"
import type { Params } from "./stripe-form.ts"
import {
  type Dispute,
  disputeJson,
  failureOf,
  type Intent,
  intentJson,
  type Json,
  type Method,
  methodJson,
  type Refund,
  refundJson,
  type Session,
  sentence,
  sessionJson
} from "./stripe-objects.ts"

/** An answer that is none of 2xx. */
export class Refusal extends Error {
  readonly status: number
  readonly error: Json
  constructor(status: number, error: Json) {
    super(String(error.message))
    this.status = status
    this.error = error
  }
}

export const invalid = (message: string, more: Json = {}, status = 400) =>
  new Refusal(status, { type: "invalid_request_error", message, ...more })

const missing = (what: string, id: string, param: string, status = 400) =>
  invalid(`No such ${what}: '${id}'`, { code: "resource_missing", param }, status)

const newId = (prefix: string) => `${prefix}_${randomBytes(12).toString("hex")}`

const metadataIn = (given: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries((given ?? {}) as Params).map(([key, value]) => [key, String(value)]))

const wholeCents = (text: unknown, param: string) => {
  const cents = Number(text)
  if (!Number.isInteger(cents))
    throw invalid(`Invalid integer: ${String(text)}`, { code: "parameter_invalid_integer", param })
  if (cents < 50) throw invalid("Amount must be at least $0.50 usd", { code: "amount_too_small", param })
  return cents
}

/** `now` in milliseconds; `page` is where payment pages are. */
export const openBooks = (now: () => number, page: () => string) => {
  const customers = new Set<string>()
  const methods = new Map<string, Method>()
  const intents = new Map<string, Intent>()
  const sessions = new Map<string, Session>()
  const refunds = new Map<string, Refund>()
  const disputes = new Map<string, Dispute>()
  const happened: Array<{ readonly type: string; readonly object: Json }> = []
  const seconds = () => Math.floor(now() / 1000)
  const tell = (type: string, object: Json) => happened.push({ type, object })

  const customerNamed = (id: string) => {
    if (!customers.has(id)) throw missing("customer", id, "customer")
    return id
  }

  const dispute = (intent: Intent): Dispute => {
    const amount = intent.received - goneOf(intent)
    const made: Dispute = {
      id: newId("du"),
      amount,
      moved: [-amount],
      intent,
      created: seconds(),
      status: "needs_response"
    }
    disputes.set(made.id, made)
    tell("charge.dispute.created", disputeJson(made))
    return made
  }

  const goneOf = (intent: Intent) =>
    [...refunds.values(), ...disputes.values()]
      .filter((it) => it.intent === intent && !["failed", "won"].includes(it.status))
      .reduce((sum, { amount }) => sum + amount, 0)

  /** What the bank says, and what comes of it. */
  const take = (intent: Intent, method: Method, says: TestCard["later"]) => {
    intent.method = method
    if (says !== "pays") {
      intent.failure = failureOf(says.decline)
      tell("payment_intent.payment_failed", intentJson(intent, false))
      return
    }
    intent.status = "succeeded"
    intent.failure = null
    tell("payment_intent.succeeded", intentJson(intent, false))
    if (findTestCard(method.plays)?.afterwards === "disputed") dispute(intent)
  }

  const newIntent = (amount: number, customer: string | null, metadata: Record<string, string>): Intent => {
    const made: Intent = {
      id: newId("pi"),
      amount,
      created: seconds(),
      metadata,
      customer,
      method: null,
      status: "requires_payment_method",
      cancellation_reason: null,
      failure: null,
      received: amount,
      currency: "usd"
    }
    intents.set(made.id, made)
    return made
  }

  const createSession = (params: Params): Json => {
    const line = (params.line_items as Record<string, Params>)?.["0"] ?? {}
    const price = (line.price_data ?? {}) as Params
    if (params.mode !== "payment" || price.currency !== "usd") throw invalid("You must pay in usd here")
    for (const param of ["success_url", "cancel_url"]) {
      if (!URL.canParse(String(params[param]))) throw invalid("Not a valid URL", { code: "url_invalid", param })
    }
    if (params.customer_email !== undefined && !/^[!-~]+@[!-~]+\.[a-z]{2,}$/i.test(String(params.customer_email))) {
      const param = "customer_email"
      throw invalid(`Invalid email address: ${String(params.customer_email)}`, { code: "email_invalid", param })
    }
    const id = newId("cs_test")
    const made: Session = {
      id,
      amount: wholeCents(price.unit_amount, "line_items[0][price_data][unit_amount]"),
      created: seconds(),
      metadata: metadataIn(params.metadata),
      intentMetadata: metadataIn((params.payment_intent_data as Params)?.metadata),
      url: `${page()}/c/pay/${id}`,
      success_url: String(params.success_url),
      email: params.customer_email === undefined ? null : String(params.customer_email),
      customer: params.customer === undefined ? null : customerNamed(String(params.customer)),
      intent: null,
      status: "open"
    }
    sessions.set(id, made)
    return sessionJson(made, false)
  }

  /** Made and confirmed in one request, without the customer. */
  const createIntent = (params: Params): Json => {
    const amount = wholeCents(params.amount, "amount")
    if (params.currency !== "usd" || params.confirm !== "true" || params.off_session !== "true") {
      throw invalid("Only off-session payments in usd, confirmed at once, are played here")
    }
    const customer = customerNamed(String(params.customer))
    const method = methods.get(String(params.payment_method))
    if (method === undefined) throw missing("PaymentMethod", String(params.payment_method), "payment_method")
    if (method.customer !== customer) {
      throw invalid(
        `The customer does not have a payment method with the ID ${method.id}. The payment method must be attached to the customer.`
      )
    }
    const intent = newIntent(amount, customer, metadataIn(params.metadata))
    take(intent, method, testCards[method.plays].later)
    if (intent.failure === null) return intentJson(intent, true)
    const { code, decline_code } = intent.failure
    throw new Refusal(402, {
      code,
      decline_code,
      message: sentence(code),
      payment_intent: intentJson(intent, false),
      payment_method: methodJson(method),
      type: "card_error"
    })
  }

  const cancel = (id: string, params: Params): Json => {
    const intent = one(intents, "payment_intent", id)
    if (!intent.status.startsWith("requires_")) {
      throw invalid(`You cannot cancel this PaymentIntent because it has a status of ${intent.status}.`, {
        code: "payment_intent_unexpected_state"
      })
    }
    intent.status = "canceled"
    intent.cancellation_reason = String(params.cancellation_reason)
    tell("payment_intent.canceled", intentJson(intent, false))
    return intentJson(intent, true)
  }

  const current = (session: Session) => {
    if (session.status === "open" && seconds() >= session.created + 86_400) session.status = "expired"
    return session
  }

  const expire = (id: string): Json => {
    const session = current(one(sessions, "checkout.session", id))
    if (session.status !== "open") {
      throw invalid(
        `Only Checkout Sessions with a status in ["open"] can be expired. This Session has a status of ${session.status}.`
      )
    }
    session.status = "expired"
    tell("checkout.session.expired", sessionJson(session, false))
    return sessionJson(session, false)
  }

  /** What the customer does on the page of Checkout. */
  const pay = (session: Session, plays: TestCardName): "paid" | "declined" | "over" => {
    if (current(session).status !== "open") return "over"
    session.intent ??= newIntent(session.amount, session.customer, session.intentMetadata)
    const { at_checkout } = testCards[plays]
    const method: Method = { id: newId("pm"), plays, customer: null }
    methods.set(method.id, method)
    take(session.intent, method, at_checkout === "requires_authentication" ? "pays" : at_checkout)
    if (session.intent.failure !== null) return "declined"
    session.customer ??= newId("cus")
    customers.add(session.customer)
    session.intent.customer = session.customer
    method.customer = session.customer
    session.status = "complete"
    tell("checkout.session.completed", sessionJson(session, false))
    return "paid"
  }

  const refund = (intent: Intent, cents: number | null): Refund => {
    const left = intent.received - goneOf(intent)
    if (intent.status !== "succeeded" || (cents ?? left) > left) throw new Error(`only ${left} cents can be refunded`)
    const made: Refund = { id: newId("re"), amount: cents ?? left, intent, created: seconds(), status: "succeeded" }
    refunds.set(made.id, made)
    tell("refund.created", refundJson(made))
    if (findTestCard(intent.method?.plays ?? null)?.afterwards === "refunds_fail") failRefund(made)
    return made
  }
  const failRefund = (made: Refund) => {
    made.status = "failed"
    tell("refund.failed", refundJson(made))
  }
  const close = (made: Dispute, status: string) => {
    made.status = status
    if (status === "won") made.moved = [...made.moved, made.amount]
    tell("charge.dispute.closed", disputeJson(made))
  }

  const detach = (id: string): Json => {
    const method = methods.get(id)
    if (method === undefined) throw missing("PaymentMethod", id, "payment_method", 404)
    if (method.customer === null) {
      throw invalid("The payment method you provided is not attached to a customer so detachment is impossible.")
    }
    method.customer = null
    return methodJson(method)
  }

  const one = <A>(kept: ReadonlyMap<string, A>, what: string, id: string): A => {
    const found = kept.get(id)
    if (found === undefined) throw missing(what, id, "id", 404)
    return found
  }

  return {
    customers,
    methods,
    intents,
    sessions,
    refunds,
    disputes,
    happened,
    pay,
    refund,
    failRefund,
    dispute,
    close,
    goneOf,
    createSession,
    createIntent,
    cancel,
    expire,
    detach,
    customer: (id: string): Json => ({ id: customerAt404(customers, id), object: "customer" }),
    method: (id: string) => methodJson(one(methods, "PaymentMethod", id)),
    intent: (id: string, isExpanded: boolean) => intentJson(one(intents, "payment_intent", id), isExpanded),
    session: (id: string, isExpanded: boolean) =>
      sessionJson(current(one(sessions, "checkout.session", id)), isExpanded),
    /** Oldest first. */
    listed: {
      payment_intents: (isExpanded: boolean) => [...intents.values()].map((it) => intentJson(it, isExpanded)),
      "checkout/sessions": (isExpanded: boolean) =>
        [...sessions.values()].map((it) => sessionJson(current(it), isExpanded)),
      customers: () => [...customers].map((id): Json => ({ id, object: "customer" })),
      payment_methods: () => [...methods.values()].map(methodJson),
      refunds: () => [...refunds.values()].map(refundJson),
      disputes: () => [...disputes.values()].map(disputeJson)
    }
  }
}
export type Books = ReturnType<typeof openBooks>

const customerAt404 = (customers: ReadonlySet<string>, id: string) => {
  if (!customers.has(id)) throw missing("customer", id, "id", 404)
  return id
}

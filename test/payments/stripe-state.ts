/**
 * The state of a simulated Stripe in memory: the payments of this project, the errors that Stripe documents for them, and
 * its test cards.
 */
import { randomBytes } from "node:crypto"
import { testCards } from "@larder/serve/billing"
import { findTestCard, type TestCard, type TestCardName } from "@larder/serve/billing/simulator/test-cards.ts"
import type { Params } from "./stripe-form.ts"
import {
  type Dispute,
  describeDecline,
  type Intent,
  type Json,
  type Method,
  makeFailure,
  type Refund,
  type Session,
  toDisputeJson,
  toIntentJson,
  toMethodJson,
  toRefundJson,
  toSessionJson
} from "./stripe-objects.ts"

/** A response with a status other than 2xx. */
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

const parseMetadata = (given: unknown): Record<string, string> =>
  Object.fromEntries(Object.entries((given ?? {}) as Params).map(([key, value]) => [key, String(value)]))

const parseCents = (text: unknown, param: string) => {
  const cents = Number(text)
  if (!Number.isInteger(cents))
    throw invalid(`Invalid integer: ${String(text)}`, { code: "parameter_invalid_integer", param })
  if (cents < 50) throw invalid("Amount must be at least $0.50 usd", { code: "amount_too_small", param })
  return cents
}

/** `now` returns milliseconds, and `pageUrl` the address of payment pages. */
export const openStripeState = (now: () => number, pageUrl: () => string) => {
  const customers = new Set<string>()
  const methods = new Map<string, Method>()
  const intents = new Map<string, Intent>()
  const sessions = new Map<string, Session>()
  const refunds = new Map<string, Refund>()
  const disputes = new Map<string, Dispute>()
  const events: Array<{ readonly type: string; readonly object: Json }> = []
  const seconds = () => Math.floor(now() / 1000)
  const addEvent = (type: string, object: Json) => events.push({ type, object })

  const requireOwnCustomer = (id: string) => {
    if (!customers.has(id)) throw missing("customer", id, "customer")
    return id
  }

  const dispute = (intent: Intent): Dispute => {
    const amount = intent.received - sumReversed(intent)
    const created: Dispute = {
      id: newId("du"),
      amount,
      movements: [-amount],
      intent,
      created: seconds(),
      status: "needs_response"
    }
    disputes.set(created.id, created)
    addEvent("charge.dispute.created", toDisputeJson(created))
    return created
  }

  const sumReversed = (intent: Intent) =>
    [...refunds.values(), ...disputes.values()]
      .filter((reversal) => reversal.intent === intent && !["failed", "won"].includes(reversal.status))
      .reduce((sum, { amount }) => sum + amount, 0)

  /** Charges the card, with the bank's decision. */
  const chargeCard = (intent: Intent, method: Method, decision: TestCard["at_later_charge"]) => {
    intent.method = method
    if (decision !== "paid") {
      intent.failure = makeFailure(decision.decline)
      addEvent("payment_intent.payment_failed", toIntentJson(intent, false))
      return
    }
    intent.status = "succeeded"
    intent.failure = null
    addEvent("payment_intent.succeeded", toIntentJson(intent, false))
  }

  const newIntent = (amount: number, customer: string | null, metadata: Record<string, string>): Intent => {
    const created: Intent = {
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
    intents.set(created.id, created)
    return created
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
    const created: Session = {
      id,
      amount: parseCents(price.unit_amount, "line_items[0][price_data][unit_amount]"),
      created: seconds(),
      metadata: parseMetadata(params.metadata),
      intentMetadata: parseMetadata((params.payment_intent_data as Params)?.metadata),
      url: `${pageUrl()}/c/pay/${id}`,
      success_url: String(params.success_url),
      email: params.customer_email === undefined ? null : String(params.customer_email),
      customer: params.customer === undefined ? null : requireOwnCustomer(String(params.customer)),
      intent: null,
      status: "open"
    }
    sessions.set(id, created)
    return toSessionJson(created, false)
  }

  /** Creates and confirms in one request, off-session. */
  const createIntent = (params: Params): Json => {
    const amount = parseCents(params.amount, "amount")
    if (params.currency !== "usd" || params.confirm !== "true" || params.off_session !== "true") {
      throw invalid("Only off-session payments in usd, confirmed immediately, are supported here")
    }
    const customer = requireOwnCustomer(String(params.customer))
    const method = methods.get(String(params.payment_method))
    if (method === undefined) throw missing("PaymentMethod", String(params.payment_method), "payment_method")
    if (method.customer !== customer) {
      throw invalid(
        `The customer does not have a payment method with the ID ${method.id}. The payment method must be attached to the customer.`
      )
    }
    const intent = newIntent(amount, customer, parseMetadata(params.metadata))
    chargeCard(intent, method, testCards[method.testCard].at_later_charge)
    if (intent.failure === null) return toIntentJson(intent, true)
    const { code, decline_code } = intent.failure
    throw new Refusal(402, {
      code,
      decline_code,
      message: describeDecline(code),
      payment_intent: toIntentJson(intent, false),
      payment_method: toMethodJson(method),
      type: "card_error"
    })
  }

  const cancel = (id: string, params: Params): Json => {
    const intent = findObject(intents, "payment_intent", id)
    if (!intent.status.startsWith("requires_")) {
      throw invalid(`You cannot cancel this PaymentIntent because it has a status of ${intent.status}.`, {
        code: "payment_intent_unexpected_state"
      })
    }
    intent.status = "canceled"
    intent.cancellation_reason = String(params.cancellation_reason)
    addEvent("payment_intent.canceled", toIntentJson(intent, false))
    return toIntentJson(intent, true)
  }

  const updateStatus = (session: Session) => {
    if (session.status === "open" && seconds() >= session.created + 86_400) session.status = "expired"
    return session
  }

  const expire = (id: string): Json => {
    const session = updateStatus(findObject(sessions, "checkout.session", id))
    if (session.status !== "open") {
      throw invalid(
        `Only Checkout Sessions with a status in ["open"] can be expired. This Session has a status of ${session.status}.`
      )
    }
    session.status = "expired"
    addEvent("checkout.session.expired", toSessionJson(session, false))
    return toSessionJson(session, false)
  }

  /** The customer pays on the page of Checkout. */
  const pay = (session: Session, testCard: TestCardName): "paid" | "declined" | "ended" => {
    if (updateStatus(session).status !== "open") return "ended"
    session.intent ??= newIntent(session.amount, session.customer, session.intentMetadata)
    const { at_checkout } = testCards[testCard]
    const method: Method = { id: newId("pm"), testCard, customer: null }
    methods.set(method.id, method)
    chargeCard(session.intent, method, at_checkout === "requires_authentication" ? "paid" : at_checkout)
    if (session.intent.failure !== null) return "declined"
    session.customer ??= newId("cus")
    customers.add(session.customer)
    session.intent.customer = session.customer
    method.customer = session.customer
    session.status = "complete"
    addEvent("checkout.session.completed", toSessionJson(session, false))
    return "paid"
  }

  const refund = (intent: Intent, cents: number | null): Refund => {
    const remaining = intent.received - sumReversed(intent)
    if (intent.status !== "succeeded" || (cents ?? remaining) > remaining)
      throw new Error(`only ${remaining} cents can be refunded`)
    const created: Refund = {
      id: newId("re"),
      amount: cents ?? remaining,
      intent,
      created: seconds(),
      status: "succeeded"
    }
    refunds.set(created.id, created)
    addEvent("refund.created", toRefundJson(created))
    if (findTestCard(intent.method?.testCard ?? null)?.refunds_fail) failRefund(created)
    return created
  }
  const failRefund = (failed: Refund) => {
    failed.status = "failed"
    addEvent("refund.failed", toRefundJson(failed))
  }
  const close = (closed: Dispute, status: string) => {
    closed.status = status
    if (status === "won") closed.movements = [...closed.movements, closed.amount]
    addEvent("charge.dispute.closed", toDisputeJson(closed))
  }

  const detach = (id: string): Json => {
    const method = methods.get(id)
    if (method === undefined) throw missing("PaymentMethod", id, "payment_method", 404)
    if (method.customer === null) {
      throw invalid("The payment method you provided is not attached to a customer so detachment is impossible.")
    }
    method.customer = null
    return toMethodJson(method)
  }

  const findObject = <A>(objects: ReadonlyMap<string, A>, what: string, id: string): A => {
    const found = objects.get(id)
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
    events,
    pay,
    refund,
    failRefund,
    dispute,
    close,
    sumReversed,
    createSession,
    createIntent,
    cancel,
    expire,
    detach,
    customer: (id: string): Json => {
      if (!customers.has(id)) throw missing("customer", id, "id", 404)
      return { id, object: "customer" }
    },
    method: (id: string) => toMethodJson(findObject(methods, "PaymentMethod", id)),
    intent: (id: string, isExpanded: boolean) => toIntentJson(findObject(intents, "payment_intent", id), isExpanded),
    session: (id: string, isExpanded: boolean) =>
      toSessionJson(updateStatus(findObject(sessions, "checkout.session", id)), isExpanded),
    /** Oldest first. */
    listed: {
      payment_intents: (isExpanded: boolean) => [...intents.values()].map((intent) => toIntentJson(intent, isExpanded)),
      "checkout/sessions": (isExpanded: boolean) =>
        [...sessions.values()].map((session) => toSessionJson(updateStatus(session), isExpanded)),
      customers: () => [...customers].map((id): Json => ({ id, object: "customer" })),
      payment_methods: () => [...methods.values()].map(toMethodJson),
      refunds: () => [...refunds.values()].map(toRefundJson),
      disputes: () => [...disputes.values()].map(toDisputeJson)
    }
  }
}
export type StripeState = ReturnType<typeof openStripeState>

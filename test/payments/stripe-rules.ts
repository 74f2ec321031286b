/**
 * Parameters that Stripe rejects: unknown ones, and ones that exclude each other, according to its types and its changelog
 * for 2026-10-28.endive. A parameter that this project does not send counts as unknown.
 */
import type { Params } from "./stripe-form.ts"

const pageParameters = ["limit", "starting_after"]

/** Known parameters by request, without list indexes. `*` matches any name. */
export const knownParameters: Readonly<Record<string, ReadonlyArray<string>>> = {
  "POST checkout/sessions": [
    "mode",
    "line_items.quantity",
    "line_items.price_data.currency",
    "line_items.price_data.unit_amount",
    "line_items.price_data.product_data.name",
    "allowed_payment_method_types",
    "wallet_options.link.display",
    "adaptive_pricing.enabled",
    "customer",
    "customer_creation",
    "customer_email",
    "client_reference_id",
    "metadata.*",
    "payment_intent_data.setup_future_usage",
    "payment_intent_data.description",
    "payment_intent_data.metadata.*",
    "success_url",
    "cancel_url"
  ],
  "GET checkout/sessions": ["created.gte", "created.lte", "payment_intent", ...pageParameters],
  "GET checkout/sessions :id": ["expand"],
  "POST checkout/sessions :id expire": [],
  "POST payment_intents": [
    "amount",
    "currency",
    "customer",
    "payment_method",
    "allowed_payment_method_types",
    "off_session",
    "confirm",
    "description",
    "metadata.*",
    "expand"
  ],
  "GET payment_intents": ["customer", "created.gte", "expand", ...pageParameters],
  "GET payment_intents :id": ["expand"],
  "POST payment_intents :id cancel": ["cancellation_reason", "expand"],
  "GET refunds": ["payment_intent", ...pageParameters],
  "GET disputes": ["payment_intent", ...pageParameters],
  "GET payment_methods": ["limit"],
  "GET payment_methods :id": [],
  "POST payment_methods :id detach": [],
  "GET customers": ["limit"],
  "GET customers :id": [],
  "GET account": [],
  "GET country_specs :id": [],
  "GET webhook_endpoints": pageParameters
}

/** At most one of each pair. The types do not express this: see the changelog of 2026-07-29.dahlia and the reference of Checkout. */
const exclusive: Readonly<Record<string, ReadonlyArray<readonly [string, string]>>> = {
  "POST checkout/sessions": [
    ["customer", "customer_email"],
    ["customer", "customer_creation"]
  ],
  "POST payment_intents": [["allowed_payment_method_types", "automatic_payment_methods"]]
}

/** Such as `POST checkout/sessions :id expire`. */
export const parseRequest = (method: string, path: string) => {
  const [, kind = "", id = "", action = ""] =
    /^\/v1\/(checkout\/sessions|[a-z_]+)(?:\/([A-Za-z0-9_]+))?(?:\/([a-z]+))?$/.exec(path) ?? []
  const name = [method, kind, id === "" ? "" : ":id", action].filter((part) => part !== "").join(" ")
  return { kind, id, action, name }
}

/** `line_items[0][quantity]` is `line_items.quantity`. */
export const listNames = (params: Params, above = ""): ReadonlyArray<string> =>
  Object.entries(params).flatMap(([key, value]) => {
    const name = /^\d+$/.test(key) ? above : [above, key].filter((part) => part !== "").join(".")
    return typeof value === "string" ? [name] : listNames(value, name)
  })

/** `metadata.payment_id` is `metadata.*`. */
export const findKnownName = (request: string, name: string) => {
  const any = name.replace(/\.[^.]+$/, ".*")
  return knownParameters[request]?.find((param) => param === name || param === any)
}

export const findRefusal = (request: string, params: Params) => {
  const both = exclusive[request]?.find((names) => names.every((name) => params[name] !== undefined))
  if (both !== undefined) {
    const message = `You may only specify one of these parameters: ${both.join(", ")}.`
    return { code: "parameters_exclusive", param: both[0], message }
  }
  const unknown = listNames(params).find((name) => findKnownName(request, name) === undefined)
  if (unknown === undefined) return undefined
  return { code: "parameter_unknown", param: unknown, message: `Received unknown parameter: ${unknown}` }
}

/**
 * Events, sent as real HTTP POST requests to the console's webhook. An event stays in the database until it is answered
 * with 2xx or has been tried for about two days. So an event survives the process that created it, and may be delivered
 * twice.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import { Clock, Effect, Option, Schema } from "effect"
import { randomText } from "../../ledger/index.ts"
import type { ConsoleDatabase } from "../../persistence/index.ts"
import { type EventPayment, wrongTime } from "../processor.ts"
import { referenceOf } from "./payment-state.ts"
import { type Found, recordsOf, SimulatedEvent, type SimulatorSettings } from "./records.ts"

export const waiting = recordsOf("event", SimulatedEvent)
export const sent = recordsOf("event_sent", SimulatedEvent)

const mostAttempts = 60
/** Milliseconds for which events are held back, so that several can be sent in reverse order. */
const heldBack = 1500
const longestHeldBack = 10_000
const longestAnswer = 10_000

let latest = 0
/** Ids sort in order of creation. Ids created in the same millisecond get consecutive timestamps. */
export const newEventId = (now: number): string => {
  latest = Math.max(now, latest + 1)
  return `evt_sim_${latest.toString(36).padStart(9, "0")}${randomText(10)}`
}

const iso = (milliseconds: number) => new Date(milliseconds).toISOString()

export const eventBody = (
  id: string,
  type: string,
  about: Pick<SimulatedEvent, "payment_id" | "account_id">,
  now: number
) =>
  JSON.stringify({
    id,
    object: "event",
    type,
    created: Math.floor(now / 1000),
    livemode: false,
    data: {
      object: {
        id: referenceOf(about.payment_id),
        object: "payment",
        metadata: { payment_id: about.payment_id, account_id: about.account_id }
      }
    }
  })

/** `t=1700000000,v1=…`: the time, and an HMAC of the time and the body, as Stripe signs. */
export const signatureHeader = "simulator-signature"

const hmac = (secret: string, seconds: string, body: string) =>
  createHmac("sha256", secret).update(`${seconds}.${body}`).digest()

export const sign = (secret: string, body: string, now: number): string => {
  const seconds = String(Math.floor(now / 1000))
  return `t=${seconds},v1=${hmac(secret, seconds, body).toString("hex")}`
}

/** The error in a signature; undefined if it is valid. */
export const wrongSignature = (
  secret: string,
  body: string,
  header: string | null,
  now: number
): string | undefined => {
  const [, seconds, given] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? "") ?? []
  if (seconds === undefined || given === undefined) return "The event has no signature."
  if (!timingSafeEqual(hmac(secret, seconds, body), Buffer.from(given, "hex"))) return "The event's signature is wrong."
  return wrongTime(Number(seconds), now)
}

const Event = Schema.fromJsonString(
  Schema.Struct({
    data: Schema.Struct({
      object: Schema.Struct({ id: Schema.String, metadata: Schema.Struct({ payment_id: Schema.String }) })
    })
  })
)
const decodeEvent = Schema.decodeUnknownOption(Event)

export const paymentOfEvent = (body: string): ReadonlyArray<EventPayment> =>
  Option.match(decodeEvent(body), {
    onNone: () => [],
    onSome: ({ data }) => [{ payment_id: data.object.metadata.payment_id, reference: data.object.id }]
  })

/** Returns the status, or the reason why there is none. */
const post = (url: string, secret: string, body: string, now: number) =>
  Effect.promise(async (stopped) => {
    try {
      const response = await fetch(url, {
        method: "POST",
        redirect: "manual",
        headers: { "content-type": "application/json", [signatureHeader]: sign(secret, body, now) },
        body,
        signal: AbortSignal.any([stopped, AbortSignal.timeout(longestAnswer)])
      })
      await response.body?.cancel()
      return String(response.status)
    } catch (cause) {
      return cause instanceof Error ? cause.message : String(cause)
    }
  })

/** The due events, in the order of sending. In reverse mode, waits for a moment without new events. */
const due = (all: ReadonlyArray<Found<SimulatedEvent>>, events: SimulatorSettings["events"], now: number) => {
  const inOrder = all.filter(({ value }) => value.due_at <= iso(now))
  if (events !== "reversed") return inOrder
  const [first] = inOrder
  const last = inOrder.at(-1)
  const isQuiet = last !== undefined && last.value.made_at <= iso(now - heldBack)
  const isLate = first !== undefined && first.value.made_at <= iso(now - longestHeldBack)
  return isQuiet || isLate ? inOrder.toReversed() : []
}

type Database = ConsoleDatabase["Service"]

const sendOne = Effect.fnUntraced(function* (
  db: Database,
  url: string,
  found: Found<SimulatedEvent>,
  settings: SimulatorSettings
) {
  const now = yield* Clock.currentTimeMillis
  const { id, value } = found
  const body = eventBody(id, value.type, value, Date.parse(value.made_at))
  const forgery = eventBody(newEventId(now), "checkout.session.completed", value, now)
  if (settings.events === "forged") yield* post(url, randomBytes(24).toString("hex"), forgery, now)
  if (settings.events === "twice") yield* post(url, settings.webhook_secret, body, now)
  const answer = settings.events === "none" ? "not sent" : yield* post(url, settings.webhook_secret, body, now)
  const tried: SimulatedEvent = { ...value, answer, attempts: value.attempts + 1 }
  const isDone = /^2\d\d$/.test(answer) || settings.events === "none" || tried.attempts >= mostAttempts
  if (isDone) return yield* sent.change(db, found, tried)
  const wait = Math.min(500 * 2 ** value.attempts, 3_600_000)
  return yield* waiting.change(db, found, { ...tried, due_at: iso(now + wait) })
})

/** Sends each due event once. Returns the milliseconds until the next event is due. */
export const sendDue = Effect.fnUntraced(function* (db: Database, url: string, settings: SimulatorSettings) {
  const now = yield* Clock.currentTimeMillis
  for (const found of due(yield* waiting.all(db), settings.events, now)) yield* sendOne(db, url, found, settings)
  const next = (yield* waiting.all(db)).map(({ value }) => Date.parse(value.due_at) - now)
  return Math.min(30_000, ...next.map((wait) => Math.max(wait, 200)))
})

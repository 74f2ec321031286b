/**
 * Events, sent as HTTP POST requests to the console's webhook. An event is stored until a response has a status of 2xx,
 * or for about two days. So it is sent even if the process that created it is killed, and may be delivered twice.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import { Clock, Effect, Option, Schema } from "effect"
import { randomString } from "../../ledger/index.ts"
import type { ConsoleDatabase } from "../../persistence/index.ts"
import { checkTime, type EventPayment } from "../processor.ts"
import { toIso, toReference } from "./payment-state.ts"
import { makeRecords, SimulatedEvent } from "./records.ts"

export const waitingEvents = makeRecords("event", SimulatedEvent)
const sentKind = "event_sent"
export const sentEvents = makeRecords(sentKind, SimulatedEvent)

const maxAttempts = 60
const responseTimeoutMs = 10_000

let lastTimestamp = 0
/** Ids sort in order of creation: those of the same millisecond get consecutive timestamps. */
export const newEventId = (now: number): string => {
  lastTimestamp = Math.max(now, lastTimestamp + 1)
  return `evt_sim_${lastTimestamp.toString(36).padStart(9, "0")}${randomString(10)}`
}

export const formatEvent = (
  id: string,
  type: string,
  { account_id, payment_id }: Pick<SimulatedEvent, "payment_id" | "account_id">,
  now: number
) =>
  JSON.stringify({
    id,
    object: "event",
    type,
    created: Math.floor(now / 1000),
    livemode: false,
    data: { object: { id: toReference(payment_id), object: "payment", metadata: { payment_id, account_id } } }
  })

/** `t=1700000000,v1=…`: the time, and an HMAC of the time and the body, as Stripe signs. */
export const signatureHeader = "simulator-signature"

const computeHmac = (secret: string, seconds: string, body: string) =>
  createHmac("sha256", secret).update(`${seconds}.${body}`).digest()

export const signEvent = (secret: string, body: string, now: number): string => {
  const seconds = String(Math.floor(now / 1000))
  return `t=${seconds},v1=${computeHmac(secret, seconds, body).toString("hex")}`
}

export const checkSignature = (secret: string, body: string, header: string | null, now: number) => {
  const [, seconds, hmac] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? "") ?? []
  if (seconds === undefined || hmac === undefined) return "The event has no signature."
  if (!timingSafeEqual(computeHmac(secret, seconds, body), Buffer.from(hmac, "hex")))
    return "The event's signature is wrong."
  return checkTime(Number(seconds), now)
}

const decodeEvent = Schema.decodeUnknownOption(
  Schema.fromJsonString(
    Schema.Struct({
      data: Schema.Struct({
        object: Schema.Struct({ id: Schema.String, metadata: Schema.Struct({ payment_id: Schema.String }) })
      })
    })
  )
)

export const parseEvent = (body: string): ReadonlyArray<EventPayment> =>
  Option.toArray(decodeEvent(body)).map(({ data: { object } }) => {
    return { payment_id: object.metadata.payment_id, reference: object.id }
  })

const post = (url: string, secret: string, body: string, now: number) =>
  Effect.promise(async (stopped) => {
    try {
      const response = await fetch(url, {
        method: "POST",
        redirect: "manual",
        headers: { "content-type": "application/json", [signatureHeader]: signEvent(secret, body, now) },
        body,
        signal: AbortSignal.any([stopped, AbortSignal.timeout(responseTimeoutMs)])
      })
      await response.body?.cancel()
      return String(response.status)
    } catch (cause) {
      return cause instanceof Error ? cause.message : String(cause)
    }
  })

type FoundEvent = Effect.Success<ReturnType<typeof waitingEvents.all>>[number]

type Database = ConsoleDatabase["Service"]

const sendEvent = Effect.fnUntraced(function* (db: Database, url: string, { id, value }: FoundEvent, secret: string) {
  const now = yield* Clock.currentTimeMillis
  const answer = yield* post(url, secret, formatEvent(id, value.type, value, Date.parse(value.made_at)), now)
  const attempts = value.attempts + 1
  if (/^2\d\d$/.test(answer) || attempts >= maxAttempts) {
    return yield* waitingEvents.replace(db, id, { ...value, answer, attempts }, sentKind)
  }
  const due_at = toIso(now + Math.min(500 * 2 ** value.attempts, 3_600_000))
  return yield* waitingEvents.replace(db, id, { ...value, answer, attempts, due_at })
})

/** Sends each due event once, oldest first. Returns the milliseconds until the next event is due. */
export const sendDueEvents = Effect.fnUntraced(function* (db: Database, url: string, secret: string) {
  const now = yield* Clock.currentTimeMillis
  for (const event of yield* waitingEvents.all(db)) {
    if (event.value.due_at <= toIso(now)) yield* sendEvent(db, url, event, secret)
  }
  const waits = (yield* waitingEvents.all(db)).map(({ value }) => Math.max(Date.parse(value.due_at) - now, 200))
  return Math.min(30_000, ...waits)
})

/**
 * What goes wrong around processes that work with money, and what goes back meanwhile. Each kind has its turn, so that none
 * is left to chance: in every round one mishap of the processor, one way in which money goes back, and events of all kinds.
 */
import { signatureHeader } from "@larder/serve/billing"
import { Effect, Schema } from "effect"
import type { Chance } from "../crash/chance.ts"
import type { Shop } from "./shop.ts"
import type { Stand } from "./stand.ts"

/**
 * Nine, which share no divisor with the five ways of money nor with the fourteen stages of a kill. Who has asked a slow
 * processor waits ten seconds, hence once.
 */
const ofProcessor = [
  "lost answer",
  "outage",
  "lost answer",
  "slow",
  "lost answer",
  "outage",
  "lost answer",
  "outage",
  "lost answer"
] as const
type OfProcessor = (typeof ofProcessor)[number]
/** Milliseconds from the beginning of a run. */
export const mishapLasts: Readonly<Record<OfProcessor, number>> = { "lost answer": 0, outage: 1_000, slow: 300 }

const ofMoney = ["refund", "failed refund", "dispute", "won", "lost"] as const
const ofEvents = ["forged", "doubled", "reversed"] as const

export type Mishap = OfProcessor | (typeof ofMoney)[number] | (typeof ofEvents)[number]
export const allMishaps: ReadonlySet<Mishap> = new Set([...ofProcessor, ...ofMoney, ...ofEvents])

export interface SentEvent {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** `reversed`: made before what was told first. */
  readonly mishap: (typeof ofEvents)[number] | null
}

/**
 * What a process tells: what became of its questions to the processor, that it has put its clock forward by the longest
 * doubt, and mishaps of events that it took as it should.
 */
export type Told = "asked" | "answered" | "unanswered" | "later" | (typeof ofEvents)[number]

/** What a process has met of what was played around it, by what it has told. */
export const metBy = (mishap: OfProcessor, told: ReadonlyArray<string>): ReadonlyArray<Mishap> => {
  const times = (what: Told) => told.filter((line) => line === what).length
  // who is killed while it waits for a slow answer tells nothing any more
  const isMet = mishap === "slow" ? times("asked") > times("answered") : times("unanswered") > 0
  return [...ofEvents.filter((kind) => times(kind) > 0), ...(isMet ? [mishap] : [])]
}

const Row = Schema.Struct({ id: Schema.String, state: Schema.String, card: Schema.NullOr(Schema.String) })
export const rowsOf = ({ database }: Shop) =>
  database.all(Row, "select id, state, card from console.payment order by created_at, id")

/** What is not possible for this payment does not happen. */
const perhaps = <A>(work: Effect.Effect<A>) => Effect.catchCause(work, () => Effect.succeed(undefined))

const eventOf = ({ stand }: Shop, id: string) =>
  Effect.map(perhaps(stand.event(id)), (event): ReadonlyArray<SentEvent> => {
    if (event === undefined) return []
    const names = ["stripe-signature", signatureHeader]
    const headers = Object.fromEntries(
      names.flatMap((name) => (event.header(name) ? [[name, event.header(name) ?? ""]] : []))
    )
    return [{ body: event.body, headers, mishap: null }]
  })

export const worksWell = ({ outage, slow }: Stand) => Effect.andThen(outage(false), slow(false))

/** What happens around the processes of a history, from a place on that chance chooses. */
export const openMishaps = (chance: Chance) => {
  /** Those that are not decided, by the payment. */
  const disputes = new Map<string, string>()
  /** Of payments whose money is gone for good. */
  const lost = new Set<string>()
  let atProcessor = chance.between(0, ofProcessor.length - 1)
  let atMoney = chance.between(0, ofMoney.length - 1)

  const goBack = Effect.fnUntraced(function* ({ stand }: Shop, kind: (typeof ofMoney)[number], payment_id: string) {
    if (kind === "refund" || kind === "failed refund") {
      const refund = yield* stand.refund(payment_id, chance.between(1, 5_00))
      if (kind === "failed refund") yield* stand.failRefund(payment_id, refund)
      return
    }
    const dispute = disputes.get(payment_id) ?? (yield* stand.dispute(payment_id))
    disputes.set(payment_id, dispute)
    if (kind === "dispute") return
    yield* stand.closeDispute(payment_id, dispute, kind)
    disputes.delete(payment_id)
    if (kind === "lost") lost.add(payment_id)
  })

  /** Of the first payment for which it is possible. Answers with events of it, the later one first. */
  const moneyGoesBack = Effect.fnUntraced(function* (
    shop: Shop,
    kind: (typeof ofMoney)[number],
    paid: ReadonlyArray<string>
  ) {
    const isEnd = kind === "won" || kind === "lost"
    const turned = chance.between(0, paid.length)
    const inTurn = [...paid.slice(turned), ...paid.slice(0, turned)]
    const others = inTurn.filter((id) => !disputes.has(id) && !lost.has(id))
    for (const id of isEnd ? [...disputes.keys(), ...others] : others) {
      const early = yield* eventOf(shop, id)
      if ((yield* perhaps(Effect.as(goBack(shop, kind, id), true))) === undefined) continue
      const late = yield* eventOf(shop, id)
      return { late, early: early.map((event): SentEvent => ({ ...event, mishap: "reversed" })) }
    }
    return yield* Effect.die(new Error(`no payment is left for a mishap: ${kind}`))
  })

  /** Before a process begins: customers pay on open pages, money goes back, and the processor is made to fail. */
  return Effect.fnUntraced(function* (shop: Shop) {
    const { stand } = shop
    const mishap = ofProcessor[atProcessor++ % ofProcessor.length] ?? "outage"
    const money = ofMoney[atMoney++ % ofMoney.length] ?? "refund"
    yield* worksWell(stand) // who was killed has left it as it was
    const rows = yield* rowsOf(shop)
    const events: Array<SentEvent> = []
    for (const { card, id, state } of rows) {
      if (state !== "open" || card !== null || chance.between(0, 2) === 0) continue
      yield* perhaps(stand.pay(id, chance.oneOf(["good", "mastercard", "declined"])))
      events.push(...(yield* eventOf(shop, id)))
    }
    const paid = rows.filter(({ state }) => state === "succeeded").map(({ id }) => id)
    const { early, late } = yield* moneyGoesBack(shop, money, paid)
    const sent = [...late, ...events].flatMap(
      (event): ReadonlyArray<SentEvent> => [
        { ...event, body: `${event.body} `, mishap: "forged" },
        event,
        { ...event, mishap: "doubled" }
      ]
    )
    if (mishap === "lost answer") yield* stand.loseNextAnswer
    if (mishap === "outage") yield* stand.outage(true)
    if (mishap === "slow") yield* stand.slow(true)
    return { events: [...sent, ...early], money, ofProcessor: mishap }
  })
}

/**
 * The one request pipeline: authenticate → authorise → validate → hold → read → commit → answer. Plain HTTP goes through
 * it, and so does whatever else answers calls. The first failure wins, and every failure costs nothing.
 */
import {
  type ApiError,
  dailySpendCapReached,
  insufficientBalance,
  internal,
  invalidRequest,
  ledgerUnavailable,
  malformedAuthorization,
  missingAuthorization,
  notScoped,
  overloaded,
  spendCapReached,
  tooLargeTogether,
  tooManyInFlight,
  unknownKey,
  weeklySpendCapReached
} from "@larder/schemas/api-errors.ts"
import { foreignCursor } from "@larder/schemas/parameters.ts"
import type { Generation, Live } from "@larder/warehouse/live/live.ts"
import { Cause, Effect, Exit } from "effect"
import { tokenOf } from "./access/bearer.ts"
import { cursorScope, decodeCursor, encodeCursor } from "./cursor.ts"
import { errorBody, errorHeaders } from "./errors.ts"
import { type Entered, largeBytes, type Turn, type Turns } from "./fairness/turns.ts"
import { LedgerUnavailable } from "./ledger/errors.ts"
import type { Held, LedgerAccess } from "./ledger/ledger.ts"
import type { ApiKeyView } from "./ledger/ledger-state.ts"
import type { Refusal } from "./ledger/machine.ts"
import { timestampOf } from "./ledger/moments.ts"
import type { Meters } from "./meters.ts"
import { dataHeaders } from "./provenance.ts"
import type { ReadModel } from "./read-model.ts"
import { newRequestId } from "./request-id.ts"
import type { NotedRequest } from "./requests/request-log.ts"
import { Refused, type Request, type Route } from "./route.ts"

/** What a call asks. */
export interface Asked {
  readonly route: Route
  /** The id in the path, decoded; empty where the path has none. */
  readonly id: string
  readonly query: URLSearchParams
  readonly onDataHost: boolean
}

export interface Call extends Asked {
  readonly authorization: string | null
  /** Fires when the caller goes away. Until the commit that costs nothing. */
  readonly signal: AbortSignal
  /** Of a request that has several calls; without it, the call waits for a turn of its own. */
  readonly shared?: SharedTurn
}

/** The turn of a request that answers several calls at once, and what is left of the bytes that it may take. */
export interface SharedTurn extends Turn {
  /** Takes so many bytes for an answer; false where they are not left. */
  readonly take: (bytes: number) => boolean
}

export interface Answer {
  readonly status: number
  /** JSON text. */
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Ends when the answer has left; undefined where nothing waits for that. */
  readonly turn?: Turn | undefined
}

export interface PipelineNeeds {
  readonly live: Live<ReadModel>
  readonly ledger: LedgerAccess
  readonly turns: Turns
  readonly meters: Meters
  readonly now: () => number
  /** Where the API is reached from outside, for links in answers. */
  readonly publicUrl: string | undefined
  /** Runs a read; the fiber is interrupted when the signal fires. */
  readonly run: <A, E>(
    effect: Effect.Effect<A, E>,
    options: { readonly signal: AbortSignal }
  ) => Promise<Exit.Exit<A, E>>
  /** Told of every answered call of a known key, before the answer leaves. Costs next to nothing, and never throws. */
  readonly answered: (request: NotedRequest) => void
  /** Tells the operator about a fault. */
  readonly report: (message: string, about: Readonly<Record<string, unknown>>, cause: Cause.Cause<unknown>) => void
}

/** Calls that are being answered at once. More would only wait, and hold memory: they are told to come again. */
const mostInFlight = 4000

/** Nobody is left to read it; it is only counted. */
export const callerLeft: ApiError = { ...internal, status: 499 }

/** `key` is the one that called, where it is known. */
interface Decided {
  readonly answer: Answer
  readonly key: ApiKeyView | undefined
}

interface Valid {
  readonly values: Readonly<Record<string, unknown>>
  readonly request: Request<Readonly<Record<string, unknown>>>
}

interface Admitted {
  readonly key: ApiKeyView
  readonly valid: Valid
  readonly held: Held
  readonly turn: Turn
}

const refusals: Readonly<Record<Refusal, ApiError>> = {
  insufficient_balance: insufficientBalance,
  daily_spend_cap_reached: dailySpendCapReached,
  weekly_spend_cap_reached: weeklySpendCapReached,
  spend_cap_reached: spendCapReached
}

/** Grammar first, then the cursor, then names in the catalogs. */
const validate = (asked: Asked, model: ReadModel): Valid | ApiError => {
  const { id, onDataHost, query, route } = asked
  const read = route.parse(query)
  if ("invalid" in read) return invalidRequest(read)
  const { cursor, limit: _, ...filters } = read.value
  const scope = route.endpoint.order === undefined ? "" : cursorScope(route.endpoint.id, id, filters)
  const after = typeof cursor === "string" ? decodeCursor(scope, cursor) : undefined
  if (cursor !== undefined && after?.length !== route.endpoint.order?.length) return invalidRequest(foreignCursor)
  const unknown = route.unknownNames(read.value, model)
  if (unknown !== undefined) return invalidRequest(unknown)
  const given = new Set(query.keys())
  const cursorAt = (position: Parameters<typeof encodeCursor>[1]) => encodeCursor(scope, position)
  return { values: read.value, request: { values: read.value, given, id, after, cursorAt, onDataHost } }
}

export const makePipeline = (needs: PipelineNeeds) => {
  const { answered, ledger, live, meters, now, publicUrl, report, run, turns } = needs
  let inFlight = 0

  const answer = (
    requestId: string,
    status: number,
    body: string,
    more: Readonly<Record<string, string>> | undefined
  ): Answer => ({
    status,
    body,
    headers: {
      "content-type": "application/json",
      "cache-control": "private, no-store",
      "x-request-id": requestId,
      "access-control-allow-origin": "*",
      "access-control-expose-headers": exposed,
      ...more
    }
  })

  const errorAnswer = (requestId: string, error: ApiError, more: Readonly<Record<string, string>> | undefined) =>
    answer(requestId, error.status, errorBody(error), {
      ...errorHeaders(error.code, publicUrl),
      ...(error.status === 401 && { "www-authenticate": "Bearer" }),
      ...(error.status === 503 && { "retry-after": "1" }),
      ...more
    })

  const refusal = (call: Call, requestId: string, error: ApiError, key?: ApiKeyView): Decided => ({
    answer: errorAnswer(requestId, error, key && accountHeaders(call, key, 0, live.current())),
    key
  })

  const accountHeaders = (
    { route: { endpoint } }: Call,
    key: ApiKeyView,
    charged: number,
    { id, model }: Pick<Generation<ReadModel>, "id" | "model">
  ): Record<string, string> => ({
    ...dataHeaders(model.provenances[endpoint.tag], id),
    "x-credits-charged": String(charged),
    "x-credits-remaining": String(ledger.remaining(key, now()))
  })

  /** The failed read as an answer; what is no refusal is a fault of ours, and the operator is told. */
  const failure = (requestId: string, endpoint: string, cause: Cause.Cause<unknown>): ApiError => {
    const error = Cause.squash(cause)
    if (error instanceof Refused) return error.answer
    if (Cause.hasInterruptsOnly(cause)) return callerLeft
    report("a read failed", { request_id: requestId, endpoint }, cause)
    return internal
  }

  /** Whether the key may make this call, and what it asks. */
  const judge = (call: Call, key: ApiKeyView): Valid | ApiError => {
    const { scope } = call.route.endpoint
    return key.scopes.has(scope) ? validate(call, live.current().model) : notScoped(scope)
  }

  /** Waits until the key and its account have room for the call; a large one, for a step of the event loop besides. */
  const waitForTurn = (call: Call, key: ApiKeyView, { request }: Valid): Entered | Promise<Entered> => {
    const expected = call.route.expectedBytes(request, live.current().model)
    const entered = call.shared ?? turns.enter(key, expected, call.signal)
    return expected < largeBytes ? entered : withStep(key, entered)
  }
  const withStep = async (key: ApiKeyView, entered: Entered | Promise<Entered>) => {
    const turn = await entered
    await turns.step(key.account_id)
    return turn
  }

  /** Who waits for a turn is bounded there, and is not in flight. */
  const whileWaiting = async (entered: Promise<Entered>) => {
    inFlight--
    try {
      return await entered
    } finally {
      inFlight++
    }
  }

  /** From the key to the hold, again where the key was edited or revoked, or expired, in between. `began` receives the turn. */
  const admit = async (
    call: Call,
    token: string,
    requestId: string,
    began: (turn: Turn) => void
  ): Promise<Admitted | Decided> => {
    let turn: Turn | undefined
    for (;;) {
      const key = await ledger.authenticate(token, now())
      if (key === undefined) return refusal(call, requestId, unknownKey)
      const valid = judge(call, key)
      if (!("request" in valid)) {
        if (await ledger.isCurrent(key, now())) return refusal(call, requestId, valid, key)
        continue
      }
      if (turn === undefined) {
        const entered = waitForTurn(call, key, valid)
        const begun = entered instanceof Promise ? await whileWaiting(entered) : entered
        if (begun === "late") return refusal(call, requestId, tooManyInFlight, key)
        if (begun === "left") return refusal(call, requestId, callerLeft, key)
        turn = begun
        began(turn)
        if (entered instanceof Promise) continue // key, names and balance may have changed while it waited
      }
      const { chargedAs, endpoint } = call.route
      const admission = await ledger.hold(key, chargedAs, endpoint.credits, now())
      if ("held" in admission) return { key, valid, held: admission.held, turn }
      if (admission.refused !== "key_changed") return refusal(call, requestId, refusals[admission.refused], key)
    }
  }

  /** That the ledger cannot be written is told once: a full disk would get a line for each call. */
  let isTold = false

  /** Reads what was admitted, and makes the charge durable before the first byte leaves. */
  const charge = async (call: Call, { held, key, turn, valid }: Admitted, requestId: string): Promise<Decided> => {
    const { endpoint } = call.route
    const release = (error: ApiError) => {
      held.release()
      return refusal(call, requestId, error, key)
    }
    const exit = await run(
      live.use((generation) =>
        Effect.map(call.route.read(valid.request, generation), (body) => ({ body, generation }))
      ),
      { signal: call.signal }
    )
    if (Exit.isFailure(exit)) return release(failure(requestId, endpoint.id, exit.cause))
    if (call.signal.aborted) return release(callerLeft)
    const { body, generation } = exit.value
    if (call.shared === undefined) turn.holds(body.length)
    else if (!call.shared.take(body.length)) return release(tooLargeTogether)
    const readAt = performance.now()
    try {
      await held.commit(requestId)
      meters.committed(performance.now() - readAt)
      isTold = false
    } catch (cause) {
      if (!isTold)
        report("a charge could not be written", { request_id: requestId, endpoint: endpoint.id }, Cause.fail(cause))
      isTold = !ledger.writable()
      return refusal(call, requestId, ledgerUnavailable, key)
    }
    return { answer: answer(requestId, 200, body, accountHeaders(call, key, endpoint.credits, generation)), key }
  }

  /** An answer that is paid for takes its turn along until it has left; every other ends it here. */
  const paid = async (call: Call, token: string, requestId: string): Promise<Decided> => {
    let own: Turn | undefined
    try {
      const admitted = await admit(call, token, requestId, (turn) => {
        if (call.shared === undefined) own = turn
      })
      if ("answer" in admitted) return admitted
      const { answer, key } = await charge(call, admitted, requestId)
      if (answer.status !== 200) return { answer, key }
      const turn = own
      own = undefined
      return { answer: { ...answer, turn }, key }
    } finally {
      own?.end()
    }
  }

  const decide = (call: Call, requestId: string): Decided | Promise<Decided> => {
    if (inFlight >= mostInFlight) return refusal(call, requestId, overloaded)
    if (call.authorization === null) return refusal(call, requestId, missingAuthorization)
    const token = tokenOf(call.authorization)
    if (token === undefined) return refusal(call, requestId, malformedAuthorization)
    return paid(call, token, requestId)
  }

  /** Meters and the log of the account learn of the answer. */
  const note = (call: Call, requestId: string, { answer, key }: Decided, moment: number, startedAt: number) => {
    const { chargedAs, endpoint } = call.route
    const { status } = answer
    const duration_ms = performance.now() - startedAt
    meters.answered(endpoint.id, status, duration_ms)
    if (key !== undefined) {
      answered({
        id: requestId,
        account_id: key.account_id,
        key_id: key.id,
        endpoint: chargedAs,
        status,
        credits: status === 200 ? endpoint.credits : 0,
        duration_ms,
        occurred_at: timestampOf(moment)
      })
    }
    return answer
  }

  return {
    /** Answers a call. Never rejects. */
    answer: async (call: Call): Promise<Answer> => {
      const requestId = newRequestId()
      const startedAt = performance.now()
      const moment = now()
      inFlight++
      try {
        return note(call, requestId, await decide(call, requestId), moment, startedAt)
      } catch (cause) {
        // the ledger tells the operator once that it is away, not once a call
        const isAway = cause instanceof LedgerUnavailable
        if (!isAway) {
          report("the pipeline failed", { request_id: requestId, endpoint: call.route.endpoint.id }, Cause.die(cause))
        }
        return note(call, requestId, refusal(call, requestId, isAway ? ledgerUnavailable : internal), moment, startedAt)
      } finally {
        inFlight--
      }
    },
    /** What costs nothing and needs no key: a preflight, the document, the docs. */
    free: (status: number, body: string, headers?: Readonly<Record<string, string>>): Answer =>
      answer(newRequestId(), status, body, headers),
    /** An error that costs nothing and is of no account. */
    refuse: (error: ApiError, headers?: Readonly<Record<string, string>>): Answer =>
      errorAnswer(newRequestId(), error, headers),
    /** About how many bytes of data will answer a call; 0 where it will be refused. */
    expectedBytes: (asked: Asked): number => {
      const { model } = live.current()
      const valid = validate(asked, model)
      return "request" in valid ? asked.route.expectedBytes(valid.request, model) : 0
    },
    inFlight: () => inFlight
  }
}

const exposed =
  "X-Request-Id, X-Data-Version, X-Data-Origin, X-Credits-Charged, X-Credits-Remaining, X-Error-Code, Link, Retry-After"

export type Pipeline = ReturnType<typeof makePipeline>

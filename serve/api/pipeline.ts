/**
 * The one request pipeline: authenticate → authorise → validate → hold → read → capture → answer. Plain HTTP and every
 * other transport use it. The first failure ends the call, and a failed call costs nothing.
 */
import {
  type ApiError,
  dailySpendCapReached,
  insufficientBalance,
  internal,
  ledgerUnavailable,
  malformedAuthorization,
  missingAuthorization,
  monthlySpendCapReached,
  notScoped,
  overloaded,
  tooLargeTogether,
  tooManyInFlight,
  unknownKey,
  weeklySpendCapReached
} from "@larder/schemas"
import type { Generation, Live } from "@larder/warehouse"
import { Cause, Effect, Exit } from "effect"
import {
  type AdmittedCall,
  type ApiKeyView,
  type HoldRefusal,
  type LedgerAccess,
  LedgerUnavailable,
  readBearerKey,
  timestampOf
} from "../ledger/index.ts"
import type { NotedRequest } from "../persistence/index.ts"
import { type Answer, answerOf, dataHeaders, errorAnswer, newRequestId } from "./answer.ts"
import { type Entered, largeBytes, type Turn, type Turns } from "./fairness/turns.ts"
import type { Meters } from "./meters.ts"
import type { ReadModel } from "./read-model.ts"
import { type Asked, type Call, Refused, type ValidRequest, validate } from "./route.ts"

export interface PipelineNeeds {
  readonly live: Live<ReadModel>
  readonly ledger: LedgerAccess
  readonly turns: Turns
  readonly meters: Meters
  readonly now: () => number
  /** Public address of the API, for links in answers. */
  readonly publicUrl: string | undefined
  /** Runs a read; the fiber is interrupted when the signal fires. */
  readonly run: <A, E>(
    effect: Effect.Effect<A, E>,
    options: { readonly signal: AbortSignal }
  ) => Promise<Exit.Exit<A, E>>
  /** Receives every answered call of a known key, before the answer is sent. It is cheap and never throws. */
  readonly answered: (request: NotedRequest) => void
  /** Reports a fault to the operator. */
  readonly report: (message: string, about: Readonly<Record<string, unknown>>, cause: Cause.Cause<unknown>) => void
}

/** Limit of calls in flight. Further calls would only wait and hold memory, so they are told to try again. */
const mostInFlight = 4000

/** The caller has disconnected and reads no answer; the status is only counted. */
export const callerLeft: ApiError = { ...internal, status: 499 }

/** `key` is the calling key, if it is known. */
interface Decided {
  readonly answer: Answer
  readonly key: ApiKeyView | undefined
}

interface Admitted {
  readonly key: ApiKeyView
  readonly request: ValidRequest
  readonly held: AdmittedCall
  readonly turn: Turn
}

/** The 402 for each refusal of the ledger, which decides in `serve/ledger/rules/admission.ts`. */
const refusals: Readonly<Record<HoldRefusal, ApiError>> = {
  insufficient_balance: insufficientBalance,
  daily_spend_cap_reached: dailySpendCapReached,
  weekly_spend_cap_reached: weeklySpendCapReached,
  monthly_spend_cap_reached: monthlySpendCapReached
}

export const makePipeline = (needs: PipelineNeeds) => {
  const { answered, ledger, live, meters, now, publicUrl, report, run, turns } = needs
  let inFlight = 0

  const refusal = (call: Call, requestId: string, error: ApiError, key?: ApiKeyView): Decided => ({
    answer: errorAnswer(requestId, error, publicUrl, key && accountHeaders(call, key, 0, live.current())),
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

  /**
   * The failed read as an error. A failure that is not a refusal or an interruption is our fault, and is reported to
   * the operator.
   */
  const failure = (requestId: string, endpoint: string, cause: Cause.Cause<unknown>): ApiError => {
    const error = Cause.squash(cause)
    if (error instanceof Refused) return error.answer
    if (Cause.hasInterruptsOnly(cause)) return callerLeft
    report("a read failed", { request_id: requestId, endpoint }, cause)
    return internal
  }

  /** Checks that the key's scopes allow the call, then validates the call. */
  const judge = (call: Call, key: ApiKeyView): ValidRequest | ApiError => {
    const { scope } = call.route.endpoint
    return key.scopes.has(scope) ? validate(call, live.current().model) : notScoped(scope)
  }

  /**
   * Waits until the quotas of the key and its account have room for the call. A large call also waits for a step of the
   * event loop.
   */
  const waitForTurn = (call: Call, key: ApiKeyView, request: ValidRequest): Entered | Promise<Entered> => {
    const expected = call.route.expectedBytes(request, live.current().model)
    const entered = call.shared ?? turns.enter(key, expected, call.signal)
    return expected < largeBytes ? entered : withStep(key, entered)
  }
  const withStep = async (key: ApiKeyView, entered: Entered | Promise<Entered>) => {
    const turn = await entered
    await turns.step(key.account_id)
    return turn
  }

  /** A call that waits for a turn does not count as in flight: `turns` limits the waiting calls. */
  const whileWaiting = async (entered: Promise<Entered>) => {
    inFlight--
    try {
      return await entered
    } finally {
      inFlight++
    }
  }

  /**
   * Authenticates, validates, waits for a turn and holds the credits. Starts again if the key was edited, revoked or
   * expired meanwhile. `began` receives the turn.
   */
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
      const request = judge(call, key)
      if ("status" in request) {
        if (await ledger.isCurrent(key, now())) return refusal(call, requestId, request, key)
        continue
      }
      if (turn === undefined) {
        const entered = waitForTurn(call, key, request)
        const begun = entered instanceof Promise ? await whileWaiting(entered) : entered
        if (begun === "late") return refusal(call, requestId, tooManyInFlight, key)
        if (begun === "left") return refusal(call, requestId, callerLeft, key)
        turn = begun
        began(turn)
        if (entered instanceof Promise) continue // key, names and balance may have changed while it waited
      }
      const { chargedAs, endpoint } = call.route
      const admission = await ledger.hold(key, chargedAs, endpoint.credits, now())
      if ("held" in admission) return { key, request, held: admission.held, turn }
      if (admission.refused !== "key_changed") return refusal(call, requestId, refusals[admission.refused], key)
    }
  }

  /** An unwritable ledger is reported once: with a full disk, every call would add a line to the log. */
  let isTold = false

  /** Reads the data of an admitted call, and makes the charge durable before the first byte is sent. */
  const charge = async (call: Call, { held, key, request, turn }: Admitted, requestId: string): Promise<Decided> => {
    const { endpoint } = call.route
    const release = (error: ApiError) => {
      held.release()
      return refusal(call, requestId, error, key)
    }
    const exit = await run(
      live.use((generation) => Effect.map(call.route.read(request, generation), (body) => ({ body, generation }))),
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
    return { answer: answerOf(requestId, 200, body, accountHeaders(call, key, endpoint.credits, generation)), key }
  }

  /** A paid answer keeps its turn until it is sent; every other outcome ends the turn here. */
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
    const token = readBearerKey(call.authorization)
    if (token === undefined) return refusal(call, requestId, malformedAuthorization)
    return paid(call, token, requestId)
  }

  /** Records the answer in the meters and in the account's request log. */
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
        // the ledger itself reports once that it is unavailable, instead of once per call
        const isAway = cause instanceof LedgerUnavailable
        if (!isAway) {
          report("the pipeline failed", { request_id: requestId, endpoint: call.route.endpoint.id }, Cause.die(cause))
        }
        return note(call, requestId, refusal(call, requestId, isAway ? ledgerUnavailable : internal), moment, startedAt)
      } finally {
        inFlight--
      }
    },
    /** An answer that costs nothing and needs no key: a preflight, the OpenAPI document, the docs. */
    free: (status: number, body: string, headers?: Readonly<Record<string, string>>): Answer =>
      answerOf(newRequestId(), status, body, headers),
    /** An error that costs nothing and belongs to no account. */
    refuse: (error: ApiError, headers?: Readonly<Record<string, string>>): Answer =>
      errorAnswer(newRequestId(), error, publicUrl, headers),
    /** Approximate bytes of data in the answer to a call; 0 if the call is invalid. */
    expectedBytes: (asked: Asked): number => {
      const { model } = live.current()
      const request = validate(asked, model)
      return "status" in request ? 0 : asked.route.expectedBytes(request, model)
    },
    inFlight: () => inFlight
  }
}

export type Pipeline = ReturnType<typeof makePipeline>

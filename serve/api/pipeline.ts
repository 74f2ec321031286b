/** Authenticate → authorise → validate → hold → read → capture → answer. A failed call costs nothing. */
import {
  type ApiError,
  dailySpendCapReached,
  insufficientBalance,
  internal,
  ledgerUnavailable,
  malformedAuthorization,
  missingAuthorization,
  missingScope,
  monthlySpendCapReached,
  overloaded,
  resultsTooLarge,
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
import { type Answer, dataHeaders, errorAnswer, makeAnswer, newRequestId } from "./answer.ts"
import { type Entered, largeBytes, type Turn, type Turns } from "./fairness/turns.ts"
import type { Meters } from "./meters.ts"
import type { ReadModel } from "./read-model.ts"
import { type Call, ReadRefused, type RoutedRequest, type ValidRequest, validate } from "./route.ts"

export interface PipelineNeeds {
  readonly live: Live<ReadModel>
  readonly ledger: LedgerAccess
  readonly turns: Turns
  readonly meters: Meters
  readonly now: () => number
  readonly publicUrl: string | undefined
  /** Runs a read; the fiber is interrupted when the signal fires. */
  readonly run: <A, E>(
    effect: Effect.Effect<A, E>,
    options: { readonly signal: AbortSignal }
  ) => Promise<Exit.Exit<A, E>>
  /** Receives every answered call of a known key, before the answer is sent. Must be cheap and never throw. */
  readonly onAnswer: (request: NotedRequest) => void
  readonly report: (message: string, about: Readonly<Record<string, unknown>>, cause: Cause.Cause<unknown>) => void
}

/** Further calls would only wait and use memory, so they are asked to try again. */
const maxInFlight = 4000

/** The caller has disconnected and gets no answer; the status is only counted. */
export const callerLeft: ApiError = { ...internal, status: 499 }

interface Outcome {
  readonly answer: Answer
  readonly key: ApiKeyView | undefined
}

interface Admitted {
  readonly key: ApiKeyView
  readonly request: ValidRequest
  readonly held: AdmittedCall
  readonly turn: Turn
}

const refusals: Readonly<Record<HoldRefusal, ApiError>> = {
  insufficient_balance: insufficientBalance,
  daily_spend_cap_reached: dailySpendCapReached,
  weekly_spend_cap_reached: weeklySpendCapReached,
  monthly_spend_cap_reached: monthlySpendCapReached
}

export const makePipeline = (needs: PipelineNeeds) => {
  const { ledger, live, meters, now, onAnswer, publicUrl, report, run, turns } = needs
  let inFlight = 0

  const refuse = (call: Call, requestId: string, error: ApiError, key?: ApiKeyView): Outcome => ({
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

  /** A failed read that is not a refusal or an interruption is our fault, and is reported to the operator. */
  const errorOfRead = (requestId: string, endpoint: string, cause: Cause.Cause<unknown>): ApiError => {
    const error = Cause.squash(cause)
    if (error instanceof ReadRefused) return error.answer
    if (Cause.hasInterruptsOnly(cause)) return callerLeft
    report("a read failed", { request_id: requestId, endpoint }, cause)
    return internal
  }

  const authorise = (call: Call, key: ApiKeyView): ValidRequest | ApiError => {
    const { scope } = call.route.endpoint
    return key.scopes.has(scope) ? validate(call, live.current().model) : missingScope(scope)
  }

  /** Waits for room in the quotas of the key and its account. A large call also waits for a step of the event loop. */
  const waitForTurn = (call: Call, key: ApiKeyView, request: ValidRequest): Entered | Promise<Entered> => {
    const expected = call.route.expectedBytes(request, live.current().model)
    const entered = call.shared ?? turns.enter(key, expected, call.signal)
    return expected < largeBytes ? entered : thenStep(key, entered)
  }
  const thenStep = async (key: ApiKeyView, entered: Entered | Promise<Entered>) => {
    const turn = await entered
    await turns.step(key.account_id)
    return turn
  }

  /** A call that waits for a turn does not count as in flight: `turns` limits the waiting calls. */
  const notInFlight = async (entered: Promise<Entered>) => {
    inFlight--
    try {
      return await entered
    } finally {
      inFlight++
    }
  }

  /** Starts again if the key was edited, revoked or expired in the meantime. */
  const admit = async (
    call: Call,
    token: string,
    requestId: string,
    onTurn: (turn: Turn) => void
  ): Promise<Admitted | Outcome> => {
    let turn: Turn | undefined
    for (;;) {
      const key = await ledger.authenticate(token, now())
      if (key === undefined) return refuse(call, requestId, unknownKey)
      const request = authorise(call, key)
      if ("status" in request) {
        if (await ledger.isCurrent(key, now())) return refuse(call, requestId, request, key)
        continue
      }
      if (turn === undefined) {
        const entered = waitForTurn(call, key, request)
        const newTurn = entered instanceof Promise ? await notInFlight(entered) : entered
        if (newTurn === "late") return refuse(call, requestId, tooManyInFlight, key)
        if (newTurn === "left") return refuse(call, requestId, callerLeft, key)
        turn = newTurn
        onTurn(turn)
        if (entered instanceof Promise) continue // key, names and balance may have changed while it waited
      }
      const { chargedAs, endpoint } = call.route
      const admission = await ledger.hold(key, chargedAs, endpoint.credits, now())
      if ("held" in admission) return { key, request, held: admission.held, turn }
      if (admission.refused !== "key_changed") return refuse(call, requestId, refusals[admission.refused], key)
    }
  }

  /** An unwritable ledger is reported once: with a full disk, every call would add a line to the log. */
  let isReported = false

  /** Reads the data of an admitted call, and makes the charge durable before the first byte is sent. */
  const charge = async (call: Call, { held, key, request, turn }: Admitted, requestId: string): Promise<Outcome> => {
    const { endpoint } = call.route
    const release = (error: ApiError) => {
      held.release()
      return refuse(call, requestId, error, key)
    }
    const exit = await run(
      live.use((generation) => Effect.map(call.route.read(request, generation), (body) => ({ body, generation }))),
      { signal: call.signal }
    )
    if (Exit.isFailure(exit)) return release(errorOfRead(requestId, endpoint.id, exit.cause))
    if (call.signal.aborted) return release(callerLeft)
    const { body, generation } = exit.value
    if (call.shared === undefined) turn.setBytes(body.length)
    else if (!call.shared.take(body.length)) return release(resultsTooLarge)
    const readAt = performance.now()
    try {
      await held.commit(requestId)
      meters.timeCommit(performance.now() - readAt)
      isReported = false
    } catch (cause) {
      if (!isReported)
        report("a charge could not be written", { request_id: requestId, endpoint: endpoint.id }, Cause.fail(cause))
      isReported = !ledger.writable()
      return refuse(call, requestId, ledgerUnavailable, key)
    }
    return { answer: makeAnswer(requestId, 200, body, accountHeaders(call, key, endpoint.credits, generation)), key }
  }

  /** A paid answer keeps its turn until it is sent; every other outcome ends the turn here. */
  const answerForCredits = async (call: Call, token: string, requestId: string): Promise<Outcome> => {
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

  const decide = (call: Call, requestId: string): Outcome | Promise<Outcome> => {
    if (inFlight >= maxInFlight) return refuse(call, requestId, overloaded)
    if (call.authorization === null) return refuse(call, requestId, missingAuthorization)
    const token = readBearerKey(call.authorization)
    if (token === undefined) return refuse(call, requestId, malformedAuthorization)
    return answerForCredits(call, token, requestId)
  }

  /** Records the answer in the meters and in the account's request log. */
  const record = (call: Call, requestId: string, { answer, key }: Outcome, moment: number, startedAt: number) => {
    const { chargedAs, endpoint } = call.route
    const { status } = answer
    const duration_ms = performance.now() - startedAt
    meters.countAnswer(endpoint.id, status, duration_ms)
    if (key !== undefined) {
      onAnswer({
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
        return record(call, requestId, await decide(call, requestId), moment, startedAt)
      } catch (cause) {
        const isUnavailable = cause instanceof LedgerUnavailable // the ledger reports this itself, once
        if (!isUnavailable) {
          report("the pipeline failed", { request_id: requestId, endpoint: call.route.endpoint.id }, Cause.die(cause))
        }
        const error = isUnavailable ? ledgerUnavailable : internal
        return record(call, requestId, refuse(call, requestId, error), moment, startedAt)
      } finally {
        inFlight--
      }
    },
    /** An answer that costs nothing and needs no key: a preflight, the OpenAPI document, the docs. */
    free: (status: number, body: string, headers?: Readonly<Record<string, string>>): Answer =>
      makeAnswer(newRequestId(), status, body, headers),
    /** An error that costs nothing and belongs to no account. */
    refuse: (error: ApiError, headers?: Readonly<Record<string, string>>): Answer =>
      errorAnswer(newRequestId(), error, publicUrl, headers),
    /** Approximate bytes of data in the answer to a call; 0 if the call is invalid. */
    expectedBytes: (call: RoutedRequest): number => {
      const { model } = live.current()
      const request = validate(call, model)
      return "status" in request ? 0 : call.route.expectedBytes(request, model)
    },
    inFlight: () => inFlight
  }
}

export type RequestPipeline = ReturnType<typeof makePipeline>

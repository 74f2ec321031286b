/** Authenticate → authorise → validate → hold → read → capture → respond. A failed call costs nothing. */
import {
  type ApiError,
  accountSuspended,
  internal,
  ledgerUnavailable,
  malformedAuthorization,
  missingAuthorization,
  missingScope,
  overloaded,
  tooManyInFlight,
  unknownKey
} from "@larder/schemas"
import type { Generation, Live } from "@larder/warehouse"
import { Cause, type Effect, Exit } from "effect"
import {
  type AdmittedCall,
  type ApiKeyView,
  type LedgerAccess,
  LedgerUnavailable,
  readBearerKey,
  timestampOf
} from "../ledger/index.ts"
import type { RequestRecord } from "../persistence/index.ts"
import { type Acquired, type Limiter, largeBytes, type Permit } from "./fairness/limiter.ts"
import type { Meters } from "./meters.ts"
import {
  callerDisconnected,
  describeCall,
  makeOutcomes,
  type Outcome,
  type ReceivedCall,
  type Report,
  toApiError
} from "./outcome.ts"
import type { ReadModel } from "./read-model.ts"
import { type ApiResponse, makeErrorResponse, makeResponse, newRequestId } from "./response.ts"
import { type Call, type RoutedRequest, type ValidRequest, validate } from "./route.ts"

export interface PipelineNeeds {
  readonly live: Live<ReadModel>
  readonly ledger: LedgerAccess
  readonly limiter: Limiter
  readonly meters: Meters
  readonly now: () => number
  readonly publicUrl: string | undefined
  /** Runs a read; the fiber is interrupted when the signal fires. */
  readonly run: <A, E>(
    effect: Effect.Effect<A, E>,
    options: { readonly signal: AbortSignal }
  ) => Promise<Exit.Exit<A, E>>
  /** Receives every call of a known key, before its response is sent. Must be cheap and never throw. */
  readonly onResponse: (request: RequestRecord) => void
  readonly report: Report
}

/** Milliseconds between reports that charges cannot be written: with a full disk or a locked account, each call fails. */
const reportInterval = 10_000
/** With the call itself. Further calls would only wait and use memory, so they are refused with `Retry-After`. */
const maxInFlight = 4000
/** A charge may wait for others a tenth as long as its call has taken, and at most this many milliseconds. */
const maxPatience = 10

export const makePipeline = (needs: PipelineNeeds) => {
  const { ledger, live, meters, now, onResponse, publicUrl, report, run, limiter } = needs
  const { refuse, refuseCaller, succeed, toReadError } = makeOutcomes(needs)
  let inFlight = 0

  const authoriseAndValidate = (call: Call, key: ApiKeyView): ValidRequest | ApiError => {
    const { scope } = call.route.endpoint
    return key.scopes.has(scope) ? validate(call, live.current().model) : missingScope(scope)
  }

  /** Waits for capacity in the quotas of the key and its account. A large call also waits for a step of the event loop. */
  const acquirePermit = (call: Call, key: ApiKeyView, request: ValidRequest): Acquired | Promise<Acquired> => {
    const expected = call.route.expectedBytes(request, live.current().model)
    const acquired = call.permit ?? limiter.acquire(key, expected, call.signal, call.requestBytes)
    return expected < largeBytes ? acquired : waitForStep(key, acquired)
  }
  const waitForStep = async (key: ApiKeyView, acquired: Acquired | Promise<Acquired>) => {
    const permit = await acquired
    await limiter.step(key.account_id, "read")
    return permit
  }

  /** A call that waits for a permit does not count as in flight: the limiter restricts the waiting calls. */
  const awaitPermit = async (acquired: Promise<Acquired>) => {
    inFlight--
    try {
      return await acquired
    } finally {
      inFlight++
    }
  }

  let lastReportedAt = Number.NEGATIVE_INFINITY

  /** Makes the charge durable. Returns the response to a call that was not charged. */
  const capture = async (call: ReceivedCall, key: ApiKeyView, held: AdmittedCall) => {
    const startedAt = performance.now()
    try {
      const patience = Math.min((startedAt - call.startedAt) / 10, maxPatience)
      const outcome = await held.capture(call.requestId, { signal: call.signal, patience })
      if (outcome === "charged") {
        meters.timeCapture(performance.now() - startedAt)
        return undefined
      }
      const error = toApiError(outcome, call)
      return error.status === 401 ? refuseCaller(call, error, key) : refuse(call, error, key)
    } catch (cause) {
      if (call.signal.aborted && cause === call.signal.reason) return refuse(call, callerDisconnected, key)
      const isUnavailable = cause instanceof LedgerUnavailable
      if (!isUnavailable || now() - lastReportedAt >= reportInterval) {
        report("a charge could not be written", describeCall(call), Cause.fail(cause))
        lastReportedAt = now()
      }
      return refuse(call, isUnavailable ? ledgerUnavailable : internal, key)
    }
  }

  /** A read that waits keeps the generation open: its fiber begins at once, so this one is still the current one. */
  const readData = ({ route, signal }: Call, request: ValidRequest, generation: Generation<ReadModel>) => {
    try {
      const reading = route.read(request, generation)
      return typeof reading === "string"
        ? Exit.succeed(reading)
        : run(
            live.use(() => reading),
            { signal }
          )
    } catch (cause) {
      return Exit.die(cause)
    }
  }

  /**
   * Holds, reads and captures; the first byte is sent only after that. A read that refuses the call, for example because
   * no record has its id, tells nothing to a key that was revoked: `key_changed`. A paid response keeps the permit.
   */
  const charge = async (call: ReceivedCall, key: ApiKeyView, request: ValidRequest, permit: Permit) => {
    const { chargedAs, endpoint } = call.route
    const { credits, scope } = endpoint
    const admission = await ledger.hold(key, { endpoint: chargedAs, scope, credits }, now())
    if ("refused" in admission) {
      const { refused } = admission
      return refused === "key_changed" ? refused : refuse(call, toApiError(refused, call), key)
    }
    const { held } = admission
    try {
      const generation = live.current()
      const reading = readData(call, request, generation)
      const exit = reading instanceof Promise ? await reading : reading
      if (Exit.isFailure(exit) || call.signal.aborted) {
        held.release() // first: the response states what the key can still spend
        const error = Exit.isFailure(exit) ? toReadError(call, exit.cause) : callerDisconnected
        const isRefusal = error !== internal && error !== callerDisconnected
        if (isRefusal && !(await ledger.isCurrent(key, now()))) return "key_changed"
        return refuse(call, error, key)
      }
      const body = exit.value
      permit.setBytes(body.length)
      const refusal = await capture(call, key, held)
      return refusal ?? succeed(call, key, body, generation, permit)
    } finally {
      held.release() // no hold outlives its call
    }
  }

  /**
   * Starts again after a wait for the permit, and if the key was edited, revoked or expired in the meantime. A paid
   * response keeps the permit until it is sent; after every other outcome it is released here.
   */
  const admitAndCharge = async (call: ReceivedCall, token: string): Promise<Outcome> => {
    let permit: Permit | undefined
    try {
      for (;;) {
        const key = await ledger.authenticate(token, now())
        if (key === undefined) return refuse(call, unknownKey)
        if (key.isSuspended) return refuseCaller(call, accountSuspended, key)
        const request = authoriseAndValidate(call, key)
        if ("status" in request) {
          if (await ledger.isCurrent(key, now())) return refuse(call, request, key)
          continue
        }
        if (permit === undefined) {
          const acquired = acquirePermit(call, key, request)
          const isWaiting = acquired instanceof Promise
          const granted = isWaiting ? await awaitPermit(acquired) : acquired
          if (granted === "too many in flight") return refuse(call, tooManyInFlight, key)
          if (granted === "disconnected") return refuse(call, callerDisconnected, key)
          permit = granted
          if (isWaiting) continue // key, data and balance may have changed in the meantime
        }
        const outcome = await charge(call, key, request, permit)
        if (outcome === "key_changed") continue
        if (outcome.response.permit !== undefined) permit = undefined
        return outcome
      }
    } finally {
      permit?.release()
    }
  }

  const decide = (call: ReceivedCall): Outcome | Promise<Outcome> => {
    if (inFlight > maxInFlight) return refuse(call, overloaded)
    if (call.authorization === null) return refuse(call, missingAuthorization)
    const token = readBearerKey(call.authorization)
    if (token === undefined) return refuse(call, malformedAuthorization)
    return admitAndCharge(call, token)
  }

  /** Records the response in the meters and in the account's request log. */
  const record = (call: ReceivedCall, { key, response }: Outcome, receivedAt: number) => {
    const { chargedAs, endpoint } = call.route
    const { status } = response
    const duration_ms = performance.now() - call.startedAt
    meters.countResponse(endpoint.id, status, duration_ms)
    if (key !== undefined) {
      const { caller_request_id = null, traceparent = null } = call.callerIds()
      onResponse({
        id: call.requestId,
        account_id: key.account_id,
        key_id: key.id,
        endpoint: chargedAs,
        status,
        credits: status === 200 ? endpoint.credits : 0,
        duration_ms,
        occurred_at: timestampOf(receivedAt),
        caller_request_id,
        traceparent
      })
    }
    return response
  }

  return {
    /** Handles a call. Never rejects. */
    handle: async (received: Call): Promise<ApiResponse> => {
      const call = { ...received, requestId: newRequestId(), startedAt: performance.now() }
      const receivedAt = now()
      inFlight++
      try {
        return record(call, await decide(call), receivedAt)
      } catch (cause) {
        const isUnavailable = cause instanceof LedgerUnavailable // the ledger reports this itself, once
        if (!isUnavailable) {
          report("the pipeline failed", describeCall(call), Cause.die(cause))
        }
        const error = isUnavailable ? ledgerUnavailable : internal
        return record(call, refuse(call, error), receivedAt)
      } finally {
        inFlight--
      }
    },
    /** A response that costs nothing and needs no key: a preflight, the OpenAPI document, the docs. */
    respondUncharged: (status: number, body: string, headers?: Readonly<Record<string, string>>): ApiResponse =>
      makeResponse(newRequestId(), status, body, headers),
    /** An error that costs nothing and belongs to no account. */
    refuse: (error: ApiError, headers?: Readonly<Record<string, string>>): ApiResponse => {
      meters.countRefusal(error.status)
      return makeErrorResponse(newRequestId(), error, publicUrl, headers)
    },
    /** Approximate bytes of data in the response to a call; 0 if the call is invalid. */
    expectedBytes: (call: RoutedRequest): number => {
      const { model } = live.current()
      const request = validate(call, model)
      return "status" in request ? 0 : call.route.expectedBytes(request, model)
    },
    inFlight: () => inFlight
  }
}

export type RequestPipeline = ReturnType<typeof makePipeline>

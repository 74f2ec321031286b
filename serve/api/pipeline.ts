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
import type { Live } from "@larder/warehouse"
import { Cause, Effect, Exit } from "effect"
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
import { callerDisconnected, makeOutcomes, type Outcome, type Report, toApiError } from "./outcome.ts"
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
/** Further calls would only wait and use memory, so they are refused with `Retry-After`. */
const maxInFlight = 4000

interface Admitted {
  readonly key: ApiKeyView
  readonly request: ValidRequest
  readonly held: AdmittedCall
  readonly permit: Permit
}

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
    await limiter.step(key.account_id)
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

  /** Starts again after a wait for the permit, and if the key was edited, revoked or expired in the meantime. */
  const admit = async (
    call: Call,
    token: string,
    requestId: string,
    firstPermit: Permit | undefined,
    onPermit: (permit: Permit) => void
  ): Promise<Admitted | Outcome> => {
    let permit = firstPermit
    for (;;) {
      const key = await ledger.authenticate(token, now())
      if (key === undefined) return refuse(call, requestId, unknownKey)
      if (key.isSuspended) return refuseCaller(requestId, accountSuspended, key)
      const request = authoriseAndValidate(call, key)
      if ("status" in request) {
        if (await ledger.isCurrent(key, now())) return refuse(call, requestId, request, key)
        continue
      }
      if (permit === undefined) {
        const acquired = acquirePermit(call, key, request)
        const newPermit = acquired instanceof Promise ? await awaitPermit(acquired) : acquired
        if (newPermit === "too many in flight") return refuse(call, requestId, tooManyInFlight, key)
        if (newPermit === "disconnected") return refuse(call, requestId, callerDisconnected, key)
        permit = newPermit
        onPermit(permit)
        if (acquired instanceof Promise) continue // key, data and balance may have changed in the meantime
      }
      const { chargedAs, endpoint } = call.route
      const { credits, scope } = endpoint
      const admission = await ledger.hold(key, { endpoint: chargedAs, scope, credits }, now())
      if ("held" in admission) return { key, request, held: admission.held, permit }
      if (admission.refused !== "key_changed") return refuse(call, requestId, toApiError(admission.refused, call), key)
    }
  }

  let lastReportedAt = Number.NEGATIVE_INFINITY

  /**
   * Reads the data of an admitted call, and makes the charge durable before the first byte is sent. A read that refuses
   * the call, for example because no record has its id, tells nothing to a key that was revoked: `key_changed`.
   */
  const charge = async (
    call: Call,
    { held, key, request, permit }: Admitted,
    requestId: string
  ): Promise<Outcome | "key_changed"> => {
    const { endpoint } = call.route
    const release = (error: ApiError) => {
      held.release()
      return refuse(call, requestId, error, key)
    }
    const exit = await run(
      live.use((generation) => Effect.map(call.route.read(request, generation), (body) => ({ body, generation }))),
      { signal: call.signal }
    )
    if (Exit.isFailure(exit)) {
      const error = toReadError(requestId, endpoint.id, exit.cause)
      held.release()
      const isRefusal = error !== internal && error !== callerDisconnected
      if (isRefusal && !(await ledger.isCurrent(key, now()))) return "key_changed"
      return refuse(call, requestId, error, key)
    }
    if (call.signal.aborted) return release(callerDisconnected)
    const { body, generation } = exit.value
    permit.setBytes(body.length)
    const readAt = performance.now()
    try {
      const outcome = await held.commit(requestId, call.signal)
      if (outcome !== "charged") {
        const error = toApiError(outcome, call)
        return error.status === 401 ? refuseCaller(requestId, error, key) : refuse(call, requestId, error, key)
      }
      meters.timeCommit(performance.now() - readAt)
    } catch (cause) {
      if (call.signal.aborted && cause === call.signal.reason) return refuse(call, requestId, callerDisconnected, key)
      const isUnavailable = cause instanceof LedgerUnavailable
      if (!isUnavailable || now() - lastReportedAt >= reportInterval) {
        report("a charge could not be written", { request_id: requestId, endpoint: endpoint.id }, Cause.fail(cause))
        lastReportedAt = now()
      }
      return refuse(call, requestId, isUnavailable ? ledgerUnavailable : internal, key)
    }
    return succeed(call, requestId, key, body, generation)
  }

  /** A paid response keeps its permit until it is sent; every other outcome releases it here. */
  const admitAndCharge = async (call: Call, token: string, requestId: string): Promise<Outcome> => {
    let ownPermit: Permit | undefined
    let permit: Permit | undefined
    try {
      for (;;) {
        const admitted = await admit(call, token, requestId, permit, (acquired) => {
          permit = acquired
          if (call.permit === undefined) ownPermit = acquired
        })
        if ("response" in admitted) return admitted
        const charged = await charge(call, admitted, requestId).finally(admitted.held.release) // no hold outlives its call
        if (charged === "key_changed") continue
        if (charged.response.status !== 200) return charged
        const kept = ownPermit
        ownPermit = undefined
        return { response: { ...charged.response, permit: kept }, key: charged.key }
      }
    } finally {
      ownPermit?.release()
    }
  }

  const decide = (call: Call, requestId: string): Outcome | Promise<Outcome> => {
    if (inFlight >= maxInFlight) return refuse(call, requestId, overloaded)
    if (call.authorization === null) return refuse(call, requestId, missingAuthorization)
    const token = readBearerKey(call.authorization)
    if (token === undefined) return refuse(call, requestId, malformedAuthorization)
    return admitAndCharge(call, token, requestId)
  }

  /** Records the response in the meters and in the account's request log. */
  const record = (call: Call, requestId: string, { key, response }: Outcome, receivedAt: number, startedAt: number) => {
    const { chargedAs, endpoint } = call.route
    const { status } = response
    const duration_ms = performance.now() - startedAt
    meters.countResponse(endpoint.id, status, duration_ms)
    if (key !== undefined) {
      onResponse({
        id: requestId,
        account_id: key.account_id,
        key_id: key.id,
        endpoint: chargedAs,
        status,
        credits: status === 200 ? endpoint.credits : 0,
        duration_ms,
        occurred_at: timestampOf(receivedAt)
      })
    }
    return response
  }

  return {
    /** Handles a call. Never rejects. */
    handle: async (call: Call): Promise<ApiResponse> => {
      const requestId = newRequestId()
      const startedAt = performance.now()
      const receivedAt = now()
      inFlight++
      try {
        return record(call, requestId, await decide(call, requestId), receivedAt, startedAt)
      } catch (cause) {
        const isUnavailable = cause instanceof LedgerUnavailable // the ledger reports this itself, once
        if (!isUnavailable) {
          report("the pipeline failed", { request_id: requestId, endpoint: call.route.endpoint.id }, Cause.die(cause))
        }
        const error = isUnavailable ? ledgerUnavailable : internal
        return record(call, requestId, refuse(call, requestId, error), receivedAt, startedAt)
      } finally {
        inFlight--
      }
    },
    /** A response that costs nothing and needs no key: a preflight, the OpenAPI document, the docs. */
    respondUncharged: (status: number, body: string, headers?: Readonly<Record<string, string>>): ApiResponse =>
      makeResponse(newRequestId(), status, body, headers),
    /** An error that costs nothing and belongs to no account. */
    refuse: (error: ApiError, headers?: Readonly<Record<string, string>>): ApiResponse =>
      makeErrorResponse(newRequestId(), error, publicUrl, headers),
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

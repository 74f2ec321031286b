/** How a call ends: its response with the account's headers, and the key to whose account it belongs. */
import {
  type ApiError,
  accountSuspended,
  insufficientBalance,
  internal,
  missingScope,
  monthlySpendCapReached,
  unknownKey
} from "@larder/schemas"
import type { Generation, Live } from "@larder/warehouse"
import { Cause } from "effect"
import type { ApiKeyView, CaptureRefusal, LedgerAccess } from "../ledger/index.ts"
import type { Permit } from "./fairness/limiter.ts"
import type { ReadModel } from "./read-model.ts"
import { type ApiResponse, dataHeaders, makeErrorResponse, makeResponse } from "./response.ts"
import { type Call, ReadRefused } from "./route.ts"

export interface ReceivedCall extends Call {
  readonly requestId: string
  /** By the monotonic clock, in milliseconds. */
  readonly startedAt: number
}

export interface Outcome {
  readonly response: ApiResponse
  /** Undefined for a caller without a valid key. */
  readonly key: ApiKeyView | undefined
}

export type Report = (message: string, about: Readonly<Record<string, unknown>>, cause: Cause.Cause<unknown>) => void

/** The caller has disconnected and gets no response; the status is only counted. */
export const callerDisconnected: ApiError = { ...internal, status: 499 }

/** The ledger decides these: see `serve/ledger/rules/admission.ts`. */
const refusals: Readonly<Record<Exclude<CaptureRefusal, "missing_scope">, ApiError>> = {
  unknown_key: unknownKey,
  account_suspended: accountSuspended,
  insufficient_balance: insufficientBalance,
  monthly_spend_cap_reached: monthlySpendCapReached
}
export const toApiError = (refusal: CaptureRefusal, { route }: Call): ApiError =>
  refusal === "missing_scope" ? missingScope(route.endpoint.scope) : refusals[refusal]

/** For the log. */
export const describeCall = ({ callerIds, requestId, route }: ReceivedCall) => ({
  request_id: requestId,
  endpoint: route.endpoint.id,
  ...callerIds()
})

export const makeOutcomes = (needs: {
  readonly live: Live<ReadModel>
  readonly ledger: LedgerAccess
  readonly now: () => number
  readonly publicUrl: string | undefined
  readonly report: Report
}) => {
  const { ledger, live, now, publicUrl, report } = needs

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

  return {
    refuse: (call: ReceivedCall, error: ApiError, key?: ApiKeyView): Outcome => {
      const headers = key && accountHeaders(call, key, 0, live.current())
      return { response: makeErrorResponse(call.requestId, error, publicUrl, headers), key }
    },
    /** For a key that may not call at all: the response states nothing of its account, but the account's log has it. */
    refuseCaller: ({ requestId }: ReceivedCall, error: ApiError, key: ApiKeyView): Outcome => ({
      response: makeErrorResponse(requestId, error, publicUrl, undefined),
      key
    }),
    succeed: (
      call: ReceivedCall,
      key: ApiKeyView,
      body: string,
      generation: Generation<ReadModel>,
      permit: Permit
    ): Outcome => {
      const headers = accountHeaders(call, key, call.route.endpoint.credits, generation)
      return { response: { ...makeResponse(call.requestId, 200, body, headers), permit }, key }
    },
    /** Reports a failed read to the operator, unless it is a refusal or an interruption. */
    toReadError: (call: ReceivedCall, cause: Cause.Cause<unknown>): ApiError => {
      const error = Cause.squash(cause)
      if (error instanceof ReadRefused) return error.error
      if (Cause.hasInterruptsOnly(cause)) return callerDisconnected
      report("a read failed", describeCall(call), cause)
      return internal
    }
  }
}

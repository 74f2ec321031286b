/** Metadata of a response: what the call cost, what is left, and the id of the request. */

export interface CallCost {
  readonly status: number
  /** Id of the last attempt. Quote it when you ask the operator about a call. */
  readonly requestId: string | undefined
  /**
   * 0 for every status except 200. Undefined if a proxy dropped the header, or the API responded before it recognised
   * the key.
   */
  readonly creditsCharged: number | undefined
  /** What the key can still spend: the smaller of the balance and what is left of its budget. */
  readonly creditsRemaining: number | undefined
  /** The newest generation that changed the data set. Responses with the same version are consistent with each other. */
  readonly dataVersion: string | undefined
  /** `sample` if the data set contains rows of the bundled samples, most of which are generated; otherwise `live`. */
  readonly dataOrigin: string | undefined
  /** The exact error, such as `monthly_spend_cap_reached`; `/docs/errors` lists all codes. Undefined on success. */
  readonly errorCode: string | undefined
  /**
   * How many attempts were made: 1 without retries. An attempt that the API itself refused cost nothing. If a proxy
   * responded, such as with 502 or 504, the attempt may have been charged; `creditsCharged` does not include that.
   */
  readonly attempts: number
}

const parseNumber = (text: string | null) => (text !== null && /^\d+$/.test(text) ? Number(text) : undefined)

export const readCost = ({ headers, status }: Response, attempts: number): CallCost => ({
  status,
  requestId: headers.get("x-request-id") ?? undefined,
  creditsCharged: parseNumber(headers.get("x-credits-charged")),
  creditsRemaining: parseNumber(headers.get("x-credits-remaining")),
  dataVersion: headers.get("x-data-version") ?? undefined,
  dataOrigin: headers.get("x-data-origin") ?? undefined,
  errorCode: headers.get("x-error-code") ?? undefined,
  attempts
})

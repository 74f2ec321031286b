/** What an answer says about itself beside its data: what it cost, what is left, and by which id to ask about it. */

export interface CallCost {
  readonly status: number
  /** Of the last attempt. To be named when asking the operator about a call. */
  readonly requestId: string | undefined
  /** 0 for all but a 200. Undefined where a proxy dropped it, the key is not known, or a 503 came before the key was looked at. */
  readonly creditsCharged: number | undefined
  /** What the key can still spend: the smaller of balance and this month's budget. */
  readonly creditsRemaining: number | undefined
  /** The newest generation of the data that changed the data set. Two answers of one version agree with each other. */
  readonly dataVersion: string | undefined
  /** `sample` where the data set holds rows of the bundled samples, most of which are generated; else `live`. */
  readonly dataOrigin: string | undefined
  /** What exactly was wrong, such as `monthly_spend_cap_reached`; `/docs/errors` lists all codes. Undefined where nothing was. */
  readonly errorCode: string | undefined
  /**
   * How often the call was made: 1 where nothing had to be retried. An attempt that the API itself refused cost nothing; one
   * that a proxy answered, such as a 502 or 504, may have been charged, and is not in `creditsCharged`.
   */
  readonly attempts: number
}

const numberOf = (text: string | null) => (text !== null && /^\d+$/.test(text) ? Number(text) : undefined)

export const costOf = ({ headers, status }: Response, attempts: number): CallCost => ({
  status,
  requestId: headers.get("x-request-id") ?? undefined,
  creditsCharged: numberOf(headers.get("x-credits-charged")),
  creditsRemaining: numberOf(headers.get("x-credits-remaining")),
  dataVersion: headers.get("x-data-version") ?? undefined,
  dataOrigin: headers.get("x-data-origin") ?? undefined,
  errorCode: headers.get("x-error-code") ?? undefined,
  attempts
})

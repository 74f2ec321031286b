/**
 * The ids that a caller gave its request, which the log and the request log have beside Larder's own. They are never used
 * as that id: a caller could repeat the id of another call. Longer ones and other characters are ignored, so that no key
 * and no text gets into the log.
 */
const loggable = /^[\w.-]{1,64}$/

const readId = (headers: Headers, name: string) => {
  const value = headers.get(name)
  return value !== null && loggable.test(value) ? value : undefined
}

export interface CallerIds {
  readonly caller_request_id?: string
  /** https://www.w3.org/TR/trace-context/ */
  readonly traceparent?: string
}

export const readCallerIds = (headers: Headers): CallerIds => {
  const caller_request_id = readId(headers, "x-request-id")
  const traceparent = readId(headers, "traceparent")
  return {
    ...(caller_request_id !== undefined && { caller_request_id }),
    ...(traceparent !== undefined && { traceparent })
  }
}

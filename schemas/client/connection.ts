/**
 * One call over `fetch`: the address, the key, retries of 5xx, and errors as classes. The key is sent only to the API's
 * address: redirects are not followed. No error contains the key.
 */
import { type CallCost, readCost } from "./cost.ts"
import { makeError, makeUnknownResponseError, NoAnswer } from "./errors.ts"
import { computeWait, defaultRetries, parseRetryDelay, pause } from "./retry.ts"

export interface LarderOptions {
  /**
   * `svc_data_` and 64 letters and digits. Every visitor of a web page can read the key in it: give pages a key with a
   * small budget.
   */
  readonly key: string
  /** Address of the API, with or without `/v1` at its end, such as `https://api.example.com`. */
  readonly url: string | URL
  /** How many times a call is retried after a 5xx: 4 by default, 0 for never. */
  readonly retries?: number
}

export interface CallOptions {
  /**
   * Aborts the call and its retries; the call then rejects with the signal's reason. `AbortSignal.timeout(10_000)` sets
   * a time limit.
   */
  readonly signal?: AbortSignal | undefined
}

export type Query = Readonly<Record<string, string | number | ReadonlyArray<string> | undefined>>

/** The body of a 200 and the cost of the call. */
export interface Reply {
  readonly body: { readonly data: unknown; readonly next_cursor?: unknown }
  readonly cost: CallCost
}

interface RawResponse {
  readonly response: Response
  readonly text: string
  readonly cost: CallCost
}

const checkUrl = (url: string | URL) => {
  const { hash, origin, password, pathname, protocol, search, username } = new URL(url)
  if (!/^https?:$/.test(protocol) || `${username}${password}${search}${hash}` !== "") {
    throw new TypeError("url must be an http or https address without user, query and fragment")
  }
  return `${origin}${pathname.replace(/(\/v1)?\/*$/, "")}`
}

const checkKey = (key: string) => {
  if (/^svc_data_[A-Za-z0-9]{64}$/.test(key)) return key
  throw new TypeError("key must be svc_data_ and 64 letters and digits, without spaces or line breaks around it")
}

const checkRetries = (retries: number) => {
  if (Number.isInteger(retries) && retries >= 0) return retries
  throw new TypeError("retries must be a whole number of at least 0")
}

/** An unpaired surrogate cannot be encoded as UTF-8: the call would send a different string, and would be charged. */
export const checkText = (name: string, text: string): string => {
  if (!/\p{Surrogate}/u.test(text)) return text
  throw new TypeError(`${name} must not contain an unpaired surrogate: ${JSON.stringify(text)}`)
}

const buildQuery = (query: Query) => {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    const ambiguous = typeof value === "object" ? value.find((item) => item.includes(",")) : undefined
    if (ambiguous !== undefined)
      throw new TypeError(`${name} must not contain names with commas: "${ambiguous}" would be sent as two names`)
    search.set(name, checkText(name, String(value))) // String() joins lists with commas
  }
  return search.size === 0 ? "" : `?${search}`
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the caller reports an unknown response
  }
}

const isBody = (json: unknown): json is Reply["body"] => typeof json === "object" && json !== null && "data" in json

export class Connection {
  readonly #base: string
  readonly #key: string
  readonly #retries: number
  lastCall: CallCost | undefined

  constructor({ key, retries = defaultRetries, url }: LarderOptions) {
    this.#base = checkUrl(url)
    this.#key = checkKey(key)
    this.#retries = checkRetries(retries)
  }

  async call(path: string, query: Query, { signal }: CallOptions = {}): Promise<Reply> {
    const address = `${this.#base}${path}${buildQuery(query)}`
    for (let attempts = 1; ; attempts++) {
      const { cost, response, text } = await this.#send(address, attempts, signal)
      const json = parseJson(text)
      if (cost.status === 200) {
        if (isBody(json)) return { body: json, cost }
        throw makeUnknownResponseError(text, cost)
      }
      const retryAfter = parseRetryDelay(response.headers.get("retry-after"), Date.now())
      const wait = computeWait(attempts, retryAfter, Math.random)
      if (cost.status < 500 || attempts > this.#retries || wait === undefined) throw makeError(json, text, cost)
      await pause(wait, signal)
    }
  }

  /** Makes one attempt, and reads the whole body. */
  async #send(address: string, attempts: number, signal: AbortSignal | undefined): Promise<RawResponse> {
    let cost: CallCost | undefined
    try {
      const response = await fetch(address, {
        headers: { authorization: `Bearer ${this.#key}` },
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
        signal: signal ?? null
      })
      cost = readCost(response, attempts)
      this.lastCall = cost
      return { response, cost, text: await readText(response, signal) }
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      const problem =
        cost === undefined ? "got no response" : `got a response with status ${cost.status} that was cut off`
      const attempt = attempts === 1 ? "" : ` at attempt ${attempts}`
      const message = `The call ${problem}${attempt}: ${explainFailure(cause)}. It may have been charged; the console shows calls.`
      throw new NoAnswer(message, { attempts, cause, cost })
    }
  }
}

/**
 * A 200 that is cut off may have been charged, so it fails. An error was not charged, and its status is enough to decide
 * about a retry.
 */
const readText = async (response: Response, signal: AbortSignal | undefined): Promise<string> => {
  try {
    return await response.text()
  } catch (cause) {
    if (response.status === 200 || signal?.aborted) throw cause
    return `(cut off: ${explainFailure(cause)})`
  }
}

/** Node's message is only "fetch failed"; its cause has the reason. */
const explainFailure = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error ? `${cause.message} (${cause.cause.message})` : cause.message
}

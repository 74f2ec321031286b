/**
 * A read-only depot behind any host that serves files. Such a host cannot list files, so its hint names a manifest, and
 * the numbers after that are requested until one does not exist.
 */
import { Effect, Option, Redacted, Schema, Stream } from "effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { type Depot, DepotUnusable, Hint, hintName } from "./depot.ts"
import {
  type DepotResponse,
  isTemporaryStatus,
  makeRequests,
  missingObject,
  RequestFailed,
  toDepotError,
  withRetry
} from "./requests.ts"

export interface Host {
  /** Without a user and a trailing slash. */
  readonly address: string
  readonly user: { readonly name: string; readonly password: Redacted.Redacted } | undefined
}

const decodeHint = Schema.decodeUnknownOption(Schema.fromJsonString(Hint))

const numberIn = (name: string) => Number(/\/(\d{9})\.json$/.exec(name)?.[1] ?? 0)

const adviceFor = ({ headers, status }: DepotResponse) => {
  if (status === 401 || status === 403) {
    return "Write a user and a password into the address, https://user:password@host/…; a bucket responds with 404 for a missing object only to users who may list it."
  }
  if (status >= 300 && status < 400)
    return headers.location === undefined
      ? "It redirects without an address. Check the address, and run again."
      : `Use the address that it redirects to: ${headers.location}.`
  return "Check the address, and run again."
}

const toRequestFailed = (response: DepotResponse) =>
  new RequestFailed({
    problem: `the host returned ${response.status}`,
    advice: adviceFor(response),
    is_retryable: isTemporaryStatus(response.status)
  })

const isMissing = ({ status }: DepotResponse) => status === 404 || status === 410

export const httpDepot = Effect.fnUntraced(function* ({ address, user }: Host) {
  const { fetchBytes, fetchText } = yield* makeRequests
  const get = (name: string, headers: Readonly<Record<string, string>>) => {
    const request = HttpClientRequest.get(`${address}/${name}`, {
      headers: { ...headers, "accept-encoding": "identity" }
    })
    return Effect.succeed(
      user === undefined ? request : HttpClientRequest.basicAuth(request, user.name, Redacted.value(user.password))
    )
  }
  const mapError = (operation: string) => Effect.mapError(toDepotError(`${operation} in ${address}`))

  /** `no-cache` makes caches revalidate their copy with the host. */
  const read = (name: string) =>
    Effect.flatMap(fetchText(get(name, { "cache-control": "no-cache" })), (response) => {
      if (isMissing(response)) return Effect.succeedNone
      return response.status === 200 ? Effect.succeedSome(response.text) : Effect.fail(toRequestFailed(response))
    }).pipe(withRetry)

  const readText: Depot["readText"] = (name) => read(name).pipe(mapError(`read ${name}`))

  const readBytes: Depot["readBytes"] = (name, from) => {
    const fail = (response: DepotResponse) =>
      Effect.fail(isMissing(response) ? missingObject : toRequestFailed(response))
    return Stream.mapError(
      fetchBytes((range) => get(name, range), from, fail),
      toDepotError(`read ${name} in ${address}`)
    )
  }

  const list: Depot["list"] = Effect.fnUntraced(function* (prefix, after = "") {
    const hint = Option.flatMap(yield* read(hintName), decodeHint)
    const hinted = Option.match(hint, { onNone: () => 0, onSome: ({ newest }) => numberIn(newest) })
    const names: Array<string> = []
    for (let number = Math.max(hinted, numberIn(after) + 1); ; number++) {
      const name = `${prefix}${String(number).padStart(9, "0")}.json`
      if (Option.isSome(yield* read(name))) names.push(name)
      else if (number === hinted) return yield* outdatedHint(name)
      else return names
    }
  }, mapError("find the newest generation"))

  const readOnly = (operation: string) =>
    Effect.fail(
      new DepotUnusable({
        attempt: `${operation} in ${address}`,
        cause: new Error("a depot at a web address is read-only"),
        advice: "Set LARDER_DEPOT to the bucket or the folder that is served there."
      })
    )

  const depot: Depot = {
    location: address,
    readText,
    readBytes,
    list,
    putText: (name) => readOnly(`write ${name}`),
    putHint: (name) => readOnly(`write ${name}`),
    putFile: (name) => readOnly(`store ${name}`),
    replaceFile: (name) => readOnly(`write ${name}`),
    listTimes: (folder) => readOnly(`list ${folder}`),
    remove: () => readOnly("remove outdated files"),
    removeUnfinished: () => readOnly("remove files of killed runs")
  }
  return depot
})

const outdatedHint = (name: string) =>
  new RequestFailed({
    problem: `${hintName} names ${name}, which does not exist`,
    advice: "A cache may have an outdated copy: wait, or publish again.",
    is_retryable: false
  })

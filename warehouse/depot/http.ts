/**
 * A read-only depot behind any host that serves files. Such a host cannot list files, so the depot's hint names a manifest,
 * and manifests with higher numbers are requested until one is missing.
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
  /** Contains neither user info nor a trailing slash. */
  readonly address: string
  readonly user: { readonly name: string; readonly password: Redacted.Redacted } | undefined
}

const decodeHint = Schema.decodeUnknownOption(Schema.fromJsonString(Hint))

const numberIn = (name: string) => Number(/\/(\d{9})\.json$/.exec(name)?.[1] ?? 0)

const adviceFor = ({ headers, status }: DepotResponse) => {
  if (status === 401 || status === 403) {
    return "Put a user name and a password into the address, https://user:password@host/…. For a missing object, a bucket returns 403 instead of 404 to users without permission to list it."
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
  const buildGet = (name: string, headers: Readonly<Record<string, string>>) => {
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
    Effect.flatMap(fetchText(buildGet(name, { "cache-control": "no-cache" })), (response) => {
      if (isMissing(response)) return Effect.succeedNone
      return response.status === 200 ? Effect.succeedSome(response.text) : Effect.fail(toRequestFailed(response))
    }).pipe(withRetry)

  const readText: Depot["readText"] = (name) => read(name).pipe(mapError(`read ${name}`))

  const readBytes: Depot["readBytes"] = (name, from) => {
    const fail = (response: DepotResponse) =>
      Effect.fail(isMissing(response) ? missingObject : toRequestFailed(response))
    return Stream.mapError(
      fetchBytes((range) => buildGet(name, range), from, fail),
      toDepotError(`read ${name} in ${address}`)
    )
  }

  const list: Depot["list"] = Effect.fnUntraced(function* (prefix, after = "") {
    const hint = Option.flatMap(yield* read(hintName), decodeHint)
    const hintedNumber = Option.match(hint, { onNone: () => 0, onSome: ({ newest }) => numberIn(newest) })
    const names: Array<string> = []
    for (let number = Math.max(hintedNumber, numberIn(after) + 1); ; number++) {
      const name = `${prefix}${String(number).padStart(9, "0")}.json`
      if (Option.isSome(yield* read(name))) names.push(name)
      else if (number === hintedNumber) return yield* outdatedHint(name)
      else return names
    }
  }, mapError("find the newest generation"))

  const failReadOnly = (operation: string) =>
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
    putText: (name) => failReadOnly(`write ${name}`),
    putHint: (name) => failReadOnly(`write ${name}`),
    putFile: (name) => failReadOnly(`store ${name}`),
    listTimes: (folder) => failReadOnly(`list ${folder}`),
    remove: () => failReadOnly("remove outdated files"),
    removeUnfinished: () => failReadOnly("remove files of killed runs")
  }
  return depot
})

const outdatedHint = (name: string) =>
  new RequestFailed({
    problem: `${hintName} names ${name}, which does not exist`,
    advice: "A cache may have an outdated copy: wait, or publish again.",
    is_retryable: false
  })

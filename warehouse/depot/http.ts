/**
 * A depot behind any host that serves files, for reading only. Such a host cannot list files. Its hint names a
 * manifest, and the numbers after that are requested until one does not exist.
 */
import { Effect, Option, Redacted, Schema, Stream } from "effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { type Depot, DepotUnusable, Hint, hintName } from "./depot.ts"
import { type Answer, again, makeRequests, passes, RequestFailed, trying } from "./requests.ts"

export interface Host {
  /** Without a user, and without a slash at the end. */
  readonly address: string
  readonly user: { readonly name: string; readonly password: Redacted.Redacted } | undefined
}

const decodeHint = Schema.decodeUnknownOption(Schema.fromJsonString(Hint))

const numberIn = (name: string) => Number(/\/(\d{9})\.json$/.exec(name)?.[1] ?? 0)

const adviceFor = ({ headers, status }: Answer) => {
  if (status === 401 || status === 403) {
    return "Give a user and a password in the address, https://user:password@host/…; a bucket answers 404 for a missing object only to users who may list it."
  }
  if (status >= 300 && status < 400)
    return `Use the address that it redirects to: ${headers.location ?? "it does not say which"}.`
  return "Check the address, and run again."
}

const refusalOf = (answer: Answer) =>
  new RequestFailed({
    problem: `the host answers ${answer.status}`,
    advice: adviceFor(answer),
    may_pass: passes(answer.status)
  })

const isAbsent = ({ status }: Answer) => status === 404 || status === 410

const absent = new RequestFailed({
  problem: "it does not exist",
  advice: "If its generation has been removed, use a newer one.",
  may_pass: false
})

export const httpDepot = Effect.fnUntraced(function* ({ address, user }: Host) {
  const { ask, bytes: bytesOf } = yield* makeRequests
  const get = (name: string, headers: Readonly<Record<string, string>>) => {
    const request = HttpClientRequest.get(`${address}/${name}`, {
      headers: { ...headers, "accept-encoding": "identity" }
    })
    return Effect.succeed(
      user === undefined ? request : HttpClientRequest.basicAuth(request, user.name, Redacted.value(user.password))
    )
  }
  const failed = (what: string) => Effect.mapError(trying(`${what} in ${address}`))

  /** `no-cache` makes caches on the way ask the host whether their copy is the newest. */
  const read = (name: string) =>
    Effect.flatMap(ask(get(name, { "cache-control": "no-cache" })), (answer) => {
      if (isAbsent(answer)) return Effect.succeedNone
      return answer.status === 200 ? Effect.succeedSome(answer.text) : Effect.fail(refusalOf(answer))
    }).pipe(again)

  const text: Depot["text"] = (name) => read(name).pipe(failed(`read ${name}`))

  const bytes: Depot["bytes"] = (name, from) => {
    const refusal = (answer: Answer) => Effect.fail(isAbsent(answer) ? absent : refusalOf(answer))
    return Stream.mapError(
      bytesOf((range) => get(name, range), from, refusal),
      trying(`read ${name} in ${address}`)
    )
  }

  const list: Depot["list"] = Effect.fnUntraced(function* (prefix, after = "") {
    const hint = Option.flatMap(yield* read(hintName), decodeHint)
    const hinted = Option.match(hint, { onNone: () => 0, onSome: ({ newest }) => numberIn(newest) })
    const known = numberIn(after)
    const found: Array<string> = []
    for (let number = Math.max(hinted, known + 1); ; number++) {
      const name = `${prefix}${String(number).padStart(9, "0")}.json`
      if (Option.isSome(yield* read(name))) found.push(name)
      else if (number === hinted) return yield* pruned(name)
      else return found
    }
  }, failed("find the newest generation"))

  const readingOnly = (what: string) =>
    Effect.fail(
      new DepotUnusable({
        attempt: `${what} in ${address}`,
        cause: new Error("a depot at a web address is for reading only"),
        advice: "Set LARDER_DEPOT to the bucket or the folder that is served there."
      })
    )

  const depot: Depot = {
    location: address,
    text,
    bytes,
    list,
    putText: (name) => readingOnly(`write ${name}`),
    putHint: (name) => readingOnly(`write ${name}`),
    putFile: (name) => readingOnly(`keep ${name}`),
    replaceFile: (name) => readingOnly(`write ${name}`),
    dated: (folder) => readingOnly(`list ${folder}`),
    remove: () => readingOnly("remove what is old"),
    sweep: () => readingOnly("remove what killed runs left")
  }
  return depot
})

const pruned = (name: string) =>
  new RequestFailed({
    problem: `${hintName} names ${name}, which is not there`,
    advice: "A cache on the way may hold an outdated copy: wait, or publish again.",
    may_pass: false
  })

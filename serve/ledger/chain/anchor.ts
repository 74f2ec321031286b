/**
 * The anchor: the head of the ledger's chain, stored in a file or at a URL (PUT and GET) that an attacker who can write
 * the ledger cannot reach. A comparison of the chain with the anchor detects every change to entries and records before it.
 */
import { open, readFile, realpath, rename } from "node:fs/promises"
import path from "node:path"
import { Effect, type Option, Redacted, Schema } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { failAfter } from "../errors.ts"

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

export const Anchor = Schema.Struct({
  /** Number of the last entry that the anchor covers. */
  entries: Count,
  /** Number of the last record (of an account, a key or a payment) that the anchor covers. */
  records: Count,
  hash: Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/u)),
  /** When the anchor was written, in UTC. */
  at: Schema.String
})
export type Anchor = typeof Anchor.Type

class AnchorUnavailable extends Schema.TaggedError<AnchorUnavailable>()("AnchorUnavailable", {
  place: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `The anchor of the ledger at ${this.place} cannot be used: ${this.problem}`
  }
}

const AnchorJson = Schema.fromJsonString(Anchor)
const decode = Schema.decodeUnknownEffect(AnchorJson)
const encode = Schema.encodeSync(AnchorJson)
const responseTimeout = "10 seconds"

const withTimeout = (place: string) =>
  failAfter(responseTimeout, (problem) => new AnchorUnavailable({ place, problem }))

const isUrl = (place: string) => /^https?:\/\//.test(place)
const isLoopback = ({ hostname }: URL) => /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(hostname)

const hasDecodablePassword = ({ password, username }: URL) => {
  try {
    return decodeURIComponent(username + password) !== undefined
  } catch {
    return false
  }
}

/** Accepts an absolute file path, an `https:` URL, or an `http:` URL of this machine. Returns the problem, if any. */
export const findPlaceProblem = (place: string): string | undefined => {
  if (!isUrl(place)) return path.isAbsolute(place) ? undefined : "must be the absolute path of a file, or https://…"
  const url = URL.parse(place)
  if (url === null || !hasDecodablePassword(url)) return "is not a URL; in a user name or password, write % as %25"
  return url.protocol === "https:" || isLoopback(url)
    ? undefined
    : "must be https://…: an anchor that can be changed in transit proves nothing"
}

/** A URL may contain a password, so its name is only the origin and the path. */
const describePlace = (place: string): string => {
  const url = isUrl(place) ? URL.parse(place) : null
  return url === null ? place : `${url.origin}${url.pathname}`
}

export interface AnchorPlace {
  readonly name: string
  /** None if no anchor has been written yet. */
  readonly read: Effect.Effect<Option.Option<Anchor>, AnchorUnavailable>
  readonly write: (anchor: Anchor) => Effect.Effect<void, AnchorUnavailable>
}

/** Replaces the file atomically. Follows a symbolic link, and does not create a missing folder. */
const replaceFile = async (file: string, json: string) => {
  const target = await realpath(file).catch(() => file)
  const temporary = `${target}.part`
  const handle = await open(temporary, "w", 0o600)
  try {
    await handle.writeFile(`${json}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, target)
}

const fileAnchor = (file: string): AnchorPlace => {
  const toError = (cause: unknown) =>
    new AnchorUnavailable({ place: file, problem: cause instanceof Error ? cause.message : String(cause) })
  /** If the disk hangs, one write waits, instead of one more every second. */
  let writing: Promise<void> | undefined
  const write = (json: string) => {
    if (writing !== undefined) return Promise.reject(new Error("the previous write is still running"))
    writing = replaceFile(file, json).finally(() => {
      writing = undefined
    })
    return writing
  }
  return {
    name: file,
    read: Effect.tryPromise({
      try: () =>
        readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
          if (cause.code === "ENOENT") return undefined
          throw cause
        }),
      catch: toError
    }).pipe(
      Effect.flatMap((json) => (json === undefined ? Effect.succeedNone : Effect.asSome(decode(json)))),
      Effect.catchTag("SchemaError", () => Effect.fail(toError("its content was not written by larder-serve"))),
      withTimeout(file)
    ),
    write: (anchor) => withTimeout(file)(Effect.tryPromise({ try: () => write(encode(anchor)), catch: toError }))
  }
}

/** The message of the innermost error: the outer errors repeat the URL, which may contain a secret. */
const innermostMessage = (error: unknown): string => {
  const { cause, reason, request }: Partial<Record<"cause" | "reason" | "request", unknown>> = Object(error)
  const inner = reason ?? cause
  if (inner !== undefined) return innermostMessage(inner)
  return error instanceof Error && request === undefined ? error.message : "no response"
}

const urlAnchor = (place: string): AnchorPlace => {
  const name = describePlace(place)
  const url = new URL(place)
  const { password, username } = url
  url.username = ""
  url.password = ""
  const request = (method: "GET" | "PUT") => {
    const anonymous = HttpClientRequest.make(method)(url.href)
    return username === ""
      ? anonymous
      : HttpClientRequest.basicAuth(anonymous, decodeURIComponent(username), decodeURIComponent(password))
  }
  const toError = (problem: string) => new AnchorUnavailable({ place: name, problem })
  const send = (outgoing: HttpClientRequest.HttpClientRequest) =>
    HttpClient.execute(outgoing).pipe(
      Effect.flatMap((response) => Effect.map(response.text, (body) => ({ status: response.status, body }))),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.mapError((error) => toError(innermostMessage(error))),
      Effect.provide(FetchHttpClient.layer),
      withTimeout(name)
    )
  const failWithStatus = (status: number) => Effect.fail(toError(`it responds with ${status}`))
  return {
    name,
    read: send(request("GET")).pipe(
      Effect.flatMap(({ body, status }) => {
        if (status === 404) return Effect.succeedNone
        if (status !== 200) return failWithStatus(status)
        return decode(body).pipe(
          Effect.mapError(() => toError("its content was not written by larder-serve")),
          Effect.asSome
        )
      })
    ),
    write: (anchor) =>
      send(request("PUT").pipe(HttpClientRequest.bodyText(encode(anchor), "application/json"))).pipe(
        Effect.flatMap(({ status }) => (status >= 200 && status < 300 ? Effect.void : failWithStatus(status)))
      )
  }
}

export const anchorPlace = (place: Redacted.Redacted): AnchorPlace => {
  const value = Redacted.value(place)
  return isUrl(value) ? urlAnchor(value) : fileAnchor(value)
}

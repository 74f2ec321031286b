/** Administration of a running server's ledger and people, through its control channel. */
import { readFileSync } from "node:fs"
import { userInfo } from "node:os"
import { Effect, Option, Schema, Stream } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { Administration, AdministrationError, operations, ServerUnreachable } from "../../ledger/index.ts"
import { PeopleAdministration, PeopleError, peopleOperations } from "../../people/index.ts"
import { maxSilence, silent, unanswered } from "./unanswered.ts"
import { CommandRequest, ControlFile, controlFileIn, entriesOperation, ResponseLine } from "./wire.ts"

interface Operation<O> {
  readonly input: Schema.Codec<unknown, unknown>
  readonly output: Schema.Codec<O, unknown>
}

const decodeLine = Schema.decodeUnknownEffect(ResponseLine)
const decodeFile = Schema.decodeUnknownEffect(ControlFile)

const otherVersion = new ServerUnreachable({
  problem: "The running server has a different version from this command. Restart it."
})

/** A server that runs responds at once, unless it is busy or stopped. */
const probeTime = "1 second"

/** The user of the operating system who runs this command. In a container, a user may have no name. */
export const currentUser = Effect.try(() => userInfo().username).pipe(
  Effect.orElseSucceed(() => `uid ${process.getuid?.()}`)
)

type Send = (
  method: "GET" | "POST",
  path: string,
  body: unknown
) => Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

/** The values of a response as they arrive. A response without its last line is incomplete, and fails. */
const streamResponse = <E, O>(
  send: Send,
  errors: Schema.Codec<E, unknown>,
  name: string,
  { input, output }: Operation<O>,
  value: unknown
): Stream.Stream<O, E | ServerUnreachable> => {
  const stopped = unanswered(name, "The server stopped before it answered.")
  const isSilent = silent(name, "server")
  const isExpected = Schema.is(errors)
  const decodeValue = Schema.decodeUnknownEffect(output)
  const readLine = (line: typeof ResponseLine.Type): Effect.Effect<O, E | ServerUnreachable | Schema.SchemaError> => {
    if ("value" in line) return decodeValue(line.value)
    if ("end" in line) return Effect.fail(stopped)
    return Effect.fail(isExpected(line.error) ? line.error : otherVersion)
  }
  return Effect.flatMap(currentUser, (user) => Schema.encodeEffect(CommandRequest(input))({ user, input: value })).pipe(
    Effect.flatMap((body) => send("POST", name, body)),
    Effect.catchTag("HttpClientError", ({ reason }) =>
      Effect.fail(reason._tag === "StatusCodeError" ? otherVersion : stopped)
    ),
    Effect.timeoutOrElse({ duration: maxSilence, orElse: () => Effect.fail(isSilent) }),
    Effect.map((response) => response.stream),
    Stream.unwrap,
    Stream.timeoutOrElse({ duration: maxSilence, orElse: () => Stream.fail(isSilent) }),
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filter((line) => line !== ""),
    Stream.catchTag("HttpClientError", () => Stream.fail(stopped)),
    Stream.concat(Stream.fail(stopped)),
    Stream.mapEffect((line) => decodeLine(line)),
    Stream.takeWhile((line) => !("end" in line)),
    Stream.mapEffect((line) => readLine(line)),
    Stream.catchTag("SchemaError", () => Stream.fail(otherVersion))
  )
}

type Remote<L extends Readonly<Record<string, Operation<unknown>>>, E> = {
  readonly [N in keyof L]: (
    input: L[N]["input"]["Type"]
  ) => Effect.Effect<L[N]["output"]["Type"], E | ServerUnreachable>
}

/** Returns a function for each operation, which returns the single value of the server's response. */
const makeRemote = <L extends Readonly<Record<string, Operation<unknown>>>, E>(
  send: Send,
  operations: L,
  errors: Schema.Codec<E, unknown>
) =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      (input: unknown) =>
        Stream.runCollect(streamResponse(send, errors, name, operation, input)).pipe(
          Effect.flatMap(([value]) => (value === undefined ? Effect.fail(otherVersion) : Effect.succeed(value)))
        )
    ])
  ) as Remote<L, E> // the schemas of each operation check its types at run time

/** None if no server responds: it has not written control.json yet, or it was killed before it removed the file. */
export const findRunningServer = Effect.fn("Control.findRunningServer")(function* (ledgerDirectory: string) {
  const client = yield* HttpClient.HttpClient
  const file = yield* Effect.try(() => readFileSync(controlFileIn(ledgerDirectory), "utf8")).pipe(
    Effect.flatMap(decodeFile),
    Effect.option
  )
  if (Option.isNone(file)) return Option.none()
  const { token, url } = file.value
  const send: Send = (method, path, body) =>
    HttpClientRequest.make(method)(`${url}/${path}`).pipe(
      HttpClientRequest.bearerToken(token),
      method === "POST" ? HttpClientRequest.bodyJsonUnsafe(body) : (request) => request,
      client.execute,
      Effect.flatMap(HttpClientResponse.filterStatusOk),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false)
    )
  // a server that is busy or stopped is silent, and gets the command: it may respond later
  const isThere = yield* send("GET", "", undefined).pipe(Effect.timeoutOption(probeTime), Effect.isSuccess)
  if (!isThere) return Option.none()
  return Option.some({
    administration: Administration.of({
      ...makeRemote(send, operations, AdministrationError),
      entriesOf: (account_id) =>
        streamResponse(send, AdministrationError, "entriesOf", entriesOperation, { account_id })
    }),
    people: PeopleAdministration.of(makeRemote(send, peopleOperations, PeopleError))
  })
}, Effect.provide(FetchHttpClient.layer))

export type RunningServer = Option.Option.Value<Effect.Success<ReturnType<typeof findRunningServer>>>

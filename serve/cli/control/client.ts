/** Administration of a running server's ledger and people, through its control channel. */
import { readFileSync } from "node:fs"
import { Effect, Option, Schema, Stream } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { Administration, AdministrationError, operations, ServerUnreachable } from "../../ledger/index.ts"
import { PeopleAdministration, PeopleError, peopleOperations } from "../../people/index.ts"
import { ControlFile, controlFileIn, entriesOperation, ResponseLine } from "./wire.ts"

interface Operation<O> {
  readonly input: Schema.Codec<unknown, unknown>
  readonly output: Schema.Codec<O, unknown>
}

const decodeLine = Schema.decodeUnknownEffect(ResponseLine)
const decodeFile = Schema.decodeUnknownEffect(ControlFile)

const incompleteResponse = new ServerUnreachable({
  problem: "The server stopped before it responded. Check what it did before you try again."
})
const otherVersion = new ServerUnreachable({
  problem: "The running server has a different version from this command. Restart it."
})

type Send = (
  method: "GET" | "POST",
  path: string,
  body: unknown
) => Effect.Effect<HttpClientResponse.HttpClientResponse, ServerUnreachable>

/** The values of a response as they arrive. A response without its last line is incomplete, and fails. */
const streamResponse = <E, O>(
  send: Send,
  errors: Schema.Codec<E, unknown>,
  name: string,
  { input, output }: Operation<O>,
  value: unknown
): Stream.Stream<O, E | ServerUnreachable> => {
  const isExpected = Schema.is(errors)
  const decodeValue = Schema.decodeUnknownEffect(output)
  const readLine = (line: typeof ResponseLine.Type): Effect.Effect<O, E | ServerUnreachable | Schema.SchemaError> => {
    if ("value" in line) return decodeValue(line.value)
    if ("end" in line) return Effect.fail(incompleteResponse)
    return Effect.fail(isExpected(line.error) ? line.error : otherVersion)
  }
  return Schema.encodeEffect(input)(value).pipe(
    Effect.flatMap((body) => send("POST", name, body)),
    Effect.map((response) => response.stream),
    Stream.unwrap,
    Stream.decodeText(),
    Stream.splitLines,
    Stream.catchTag("HttpClientError", () => Stream.fail(incompleteResponse)),
    Stream.concat(Stream.fail(incompleteResponse)),
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
          Effect.flatMap(([value]) => (value === undefined ? Effect.fail(incompleteResponse) : Effect.succeed(value)))
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
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.catchTag("HttpClientError", (error) =>
        Effect.fail(error.reason._tag === "StatusCodeError" ? otherVersion : incompleteResponse)
      )
    )
  const response = yield* Effect.option(send("GET", "", undefined))
  return Option.map(response, () => ({
    administration: Administration.of({
      ...makeRemote(send, operations, AdministrationError),
      entriesOf: (account_id) =>
        streamResponse(send, AdministrationError, "entriesOf", entriesOperation, { account_id })
    }),
    people: PeopleAdministration.of(makeRemote(send, peopleOperations, PeopleError))
  }))
}, Effect.provide(FetchHttpClient.layer))

export type RunningServer = Option.Option.Value<Effect.Success<ReturnType<typeof findRunningServer>>>

/** The administration of a ledger that a running server holds, asked through its control channel. */
import { readFileSync } from "node:fs"
import { Effect, Option, Schema, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { Administration, type AdministrationError, ServerUnreachable } from "../ledger/administration.ts"
import { AnswerLine, ControlFile, controlFileIn, wire } from "./wire.ts"

interface Operation<I, IE, O, OE> {
  readonly input: Schema.Codec<I, IE>
  readonly output: Schema.Codec<O, OE>
}

const decodeLine = Schema.decodeUnknownEffect(AnswerLine)
const decodeFile = Schema.decodeUnknownEffect(ControlFile)

const lost = new ServerUnreachable({
  problem: "The server went away before it had answered. Look what it did before you try again."
})
const otherVersion = new ServerUnreachable({
  problem: "The running server is of another version than this command. Restart it."
})

/** Sends one request with the token of the running server. */
type Send = (
  method: "GET" | "POST",
  path: string,
  body: unknown
) => Effect.Effect<HttpClientResponse.HttpClientResponse, ServerUnreachable>

/** The values of an answer, as they arrive. An answer that ends without its last line was cut. */
const ask = <I, IE, O, OE>(
  send: Send,
  name: string,
  { input, output }: Operation<I, IE, O, OE>,
  asked: I
): Stream.Stream<O, AdministrationError> => {
  const decodeValue = Schema.decodeUnknownEffect(output)
  const valueIn = (line: typeof AnswerLine.Type): Effect.Effect<O, AdministrationError | Schema.SchemaError> => {
    if ("value" in line) return decodeValue(line.value)
    return Effect.fail("error" in line ? line.error : lost)
  }
  return Schema.encodeEffect(input)(asked).pipe(
    Effect.flatMap((body) => send("POST", name, body)),
    Effect.map((response) => response.stream),
    Stream.unwrap,
    Stream.decodeText(),
    Stream.splitLines,
    Stream.catchTag("HttpClientError", () => Stream.fail(lost)),
    Stream.concat(Stream.fail(lost)),
    Stream.mapEffect((line) => decodeLine(line)),
    Stream.takeWhile((line) => !("end" in line)),
    Stream.mapEffect((line) => valueIn(line)),
    Stream.catchTag("SchemaError", () => Stream.fail(otherVersion))
  )
}

const remote = (send: Send) => {
  const one =
    <I, IE, O, OE>(name: string, operation: Operation<I, IE, O, OE>) =>
    (input: I): Effect.Effect<O, AdministrationError> =>
      Stream.runCollect(ask(send, name, operation, input)).pipe(
        Effect.flatMap(([value]) => (value === undefined ? Effect.fail(lost) : Effect.succeed(value)))
      )
  return Administration.of({
    createAccount: one("createAccount", wire.createAccount),
    listAccounts: one("listAccounts", wire.listAccounts),
    creditAccount: one("creditAccount", wire.creditAccount),
    createKey: one("createKey", wire.createKey),
    listKeys: one("listKeys", wire.listKeys),
    editKey: one("editKey", wire.editKey),
    revokeKey: one("revokeKey", wire.revokeKey),
    usage: one("usage", wire.usage),
    verify: one("verify", wire.verify),
    backup: one("backup", wire.backup),
    entriesOf: (account_id) => ask(send, "entriesOf", wire.entriesOf, { account_id })
  })
}

/**
 * The server that holds the ledger in this folder, or nothing where none answers: it has not written control.json yet, or
 * it was killed and the file stayed.
 */
export const runningServer = Effect.fn("Control.runningServer")(function* (ledgerDirectory: string) {
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
        Effect.fail(error.reason._tag === "StatusCodeError" ? otherVersion : lost)
      )
    )
  const answers = yield* Effect.option(send("GET", "", undefined))
  return Option.map(answers, () => remote(send))
}, Effect.provide(FetchHttpClient.layer))

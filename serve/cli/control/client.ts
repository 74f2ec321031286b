/** Administration of a running server's ledger and people, through its control channel. */
import { readFileSync } from "node:fs"
import { Effect, Option, Schema, Stream } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { Administration, AdministrationError, ServerUnreachable } from "../../ledger/index.ts"
import { PeopleAdministration, PeopleError } from "../../people/index.ts"
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

/** The values of an answer, as they arrive. An answer that ends without its last line was cut off, and fails. */
const asking = <E, EE>(send: Send, errors: Schema.Codec<E, EE>) => {
  const isExpected = Schema.is(errors)
  return <I, IE, O, OE>(
    name: string,
    { input, output }: Operation<I, IE, O, OE>,
    asked: I
  ): Stream.Stream<O, E | ServerUnreachable> => {
    const decodeValue = Schema.decodeUnknownEffect(output)
    const valueIn = (line: typeof AnswerLine.Type): Effect.Effect<O, E | ServerUnreachable | Schema.SchemaError> => {
      if ("value" in line) return decodeValue(line.value)
      if ("end" in line) return Effect.fail(lost)
      return Effect.fail(isExpected(line.error) ? line.error : otherVersion)
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
}

/** The single value of an answer. */
const askingOne = <E, EE>(send: Send, errors: Schema.Codec<E, EE>) => {
  const ask = asking(send, errors)
  return <I, IE, O, OE>(name: string, operation: Operation<I, IE, O, OE>) =>
    (input: I): Effect.Effect<O, E | ServerUnreachable> =>
      Stream.runCollect(ask(name, operation, input)).pipe(
        Effect.flatMap(([value]) => (value === undefined ? Effect.fail(lost) : Effect.succeed(value)))
      )
}

const remotePeople = (send: Send) => {
  const one = askingOne(send, PeopleError)
  return PeopleAdministration.of({
    invitePerson: one("invitePerson", wire.invitePerson),
    withdrawInvitation: one("withdrawInvitation", wire.withdrawInvitation),
    listPeople: one("listPeople", wire.listPeople),
    resetPerson: one("resetPerson", wire.resetPerson),
    removePerson: one("removePerson", wire.removePerson)
  })
}

const remoteLedger = (send: Send) => {
  const one = askingOne(send, AdministrationError)
  return Administration.of({
    createAccount: one("createAccount", wire.createAccount),
    listAccounts: one("listAccounts", wire.listAccounts),
    account: one("account", wire.account),
    creditAccount: one("creditAccount", wire.creditAccount),
    book: one("book", wire.book),
    createKey: one("createKey", wire.createKey),
    listKeys: one("listKeys", wire.listKeys),
    editKey: one("editKey", wire.editKey),
    rotateKey: one("rotateKey", wire.rotateKey),
    revokeKey: one("revokeKey", wire.revokeKey),
    usage: one("usage", wire.usage),
    summedUsage: one("summedUsage", wire.summedUsage),
    entriesBefore: one("entriesBefore", wire.entriesBefore),
    verify: one("verify", wire.verify),
    backup: one("backup", wire.backup),
    entriesOf: (account_id) => asking(send, AdministrationError)("entriesOf", wire.entriesOf, { account_id })
  })
}

/** The services that a running server offers to commands. */
export interface Server {
  readonly administration: Administration["Service"]
  readonly people: PeopleAdministration["Service"]
}

/**
 * The server that holds the ledger in this folder, or none if no server answers: it has not written control.json yet,
 * or it was killed and left the file behind.
 */
export const runningServer = Effect.fn("Control.runningServer")(function* (ledgerDirectory: string) {
  const client = yield* HttpClient.HttpClient
  const file = yield* Effect.try(() => readFileSync(controlFileIn(ledgerDirectory), "utf8")).pipe(
    Effect.flatMap(decodeFile),
    Effect.option
  )
  if (Option.isNone(file)) return Option.none<Server>()
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
  return Option.map(answers, (): Server => ({ administration: remoteLedger(send), people: remotePeople(send) }))
}, Effect.provide(FetchHttpClient.layer))

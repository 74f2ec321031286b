/**
 * The control channel, through which administrative commands reach the server that holds the ledger. It listens on a
 * loopback port that the operating system chooses. While the server runs, `$LARDER_HOME/ledger/control.json` holds the
 * address and the token, readable only by its owner. A file left behind by a killed server is harmless: its token is no
 * longer valid.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto"
import { renameSync, rmSync, writeFileSync } from "node:fs"
import { Effect, Schema, Stream } from "effect"
import { H3, HTTPResponse } from "h3"
import { listen } from "../../api/index.ts"
import { type Administration, LedgerUnavailable } from "../../ledger/index.ts"
import type { PeopleAdministration } from "../../people/index.ts"
import { AnswerLine, type ControlError, ControlFile, controlFileIn, host, wire } from "./wire.ts"

/** Lines of an answer, as bytes. */
type Answer = Stream.Stream<Uint8Array, ControlError | Schema.SchemaError>
type Handler = (body: string) => Answer

const encodeLine = Schema.encodeSync(AnswerLine)
const utf8 = new TextEncoder()
const bytesOf = (...lines: ReadonlyArray<typeof AnswerLine.Type>) =>
  utf8.encode(lines.map((line) => `${encodeLine(line)}\n`).join(""))

const handler = <I, IE, O, OE>(
  { input, output }: { readonly input: Schema.Codec<I, IE>; readonly output: Schema.Codec<O, OE> },
  run: (input: I) => Stream.Stream<O, ControlError>
): Handler => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(input))
  const encode = Schema.encodeSync(output)
  return (body) =>
    Stream.unwrap(Effect.map(decode(body), run)).pipe(
      Stream.mapArray((values) => [bytesOf(...values.map((value) => ({ value: encode(value) })))])
    )
}

const handlersOf = (
  administration: Administration["Service"],
  people: PeopleAdministration["Service"]
): ReadonlyMap<string, Handler> => {
  const { account, backup, book, createAccount, createKey, creditAccount, editKey, entriesBefore } = administration
  const { entriesOf, listAccounts, listKeys, revokeKey, rotateKey, summedUsage, usage, verify } = administration
  return new Map([
    ["createAccount", handler(wire.createAccount, (input) => Stream.fromEffect(createAccount(input)))],
    ["listAccounts", handler(wire.listAccounts, (input) => Stream.fromEffect(listAccounts(input)))],
    ["account", handler(wire.account, (input) => Stream.fromEffect(account(input)))],
    ["creditAccount", handler(wire.creditAccount, (input) => Stream.fromEffect(creditAccount(input)))],
    ["book", handler(wire.book, (input) => Stream.fromEffect(book(input)))],
    ["createKey", handler(wire.createKey, (input) => Stream.fromEffect(createKey(input)))],
    ["listKeys", handler(wire.listKeys, (input) => Stream.fromEffect(listKeys(input)))],
    ["editKey", handler(wire.editKey, (input) => Stream.fromEffect(editKey(input)))],
    ["rotateKey", handler(wire.rotateKey, (input) => Stream.fromEffect(rotateKey(input)))],
    ["revokeKey", handler(wire.revokeKey, (input) => Stream.fromEffect(revokeKey(input)))],
    ["usage", handler(wire.usage, (input) => Stream.fromEffect(usage(input)))],
    ["summedUsage", handler(wire.summedUsage, (input) => Stream.fromEffect(summedUsage(input)))],
    ["entriesBefore", handler(wire.entriesBefore, (input) => Stream.fromEffect(entriesBefore(input)))],
    ["verify", handler(wire.verify, (input) => Stream.fromEffect(verify(input)))],
    ["backup", handler(wire.backup, (input) => Stream.fromEffect(backup(input)))],
    ["invitePerson", handler(wire.invitePerson, (input) => Stream.fromEffect(people.invitePerson(input)))],
    [
      "withdrawInvitation",
      handler(wire.withdrawInvitation, (input) => Stream.fromEffect(people.withdrawInvitation(input)))
    ],
    ["listPeople", handler(wire.listPeople, (input) => Stream.fromEffect(people.listPeople(input)))],
    ["resetPerson", handler(wire.resetPerson, (input) => Stream.fromEffect(people.resetPerson(input)))],
    ["removePerson", handler(wire.removePerson, (input) => Stream.fromEffect(people.removePerson(input)))],
    ["entriesOf", handler(wire.entriesOf, ({ account_id }) => entriesOf(account_id))]
  ])
}

/** Errors are sent as a line, too. */
const bodyOf = (answer: Answer): AsyncIterable<Uint8Array> =>
  answer.pipe(
    Stream.concat(Stream.succeed(bytesOf({ end: true }))),
    Stream.catchTag("SchemaError", (cause) =>
      Stream.succeed(bytesOf({ error: new LedgerUnavailable({ action: "understand this command", cause }) }))
    ),
    Stream.catch((error) => Stream.succeed(bytesOf({ error }))),
    Stream.toAsyncIterable
  )

const sameText = (a: string, b: string) => timingSafeEqual(hash("sha256", a, "buffer"), hash("sha256", b, "buffer"))

const refuse = (status: number, message: string) => new HTTPResponse(`${message}\n`, { status })

const controlApp = (handlers: ReadonlyMap<string, Handler>, token: string) => {
  const app = new H3({ silent: true })
  app.all("/**", async (event) => {
    const { headers, method } = event.req
    // a web page can point its host name at this machine, but sends that name and does not know the token
    if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.get("host") ?? "")) return refuse(403, "Loopback only")
    if (!sameText(headers.get("authorization") ?? "", `Bearer ${token}`)) return refuse(401, "Wrong token")
    if (method === "GET" && event.url.pathname === "/") return new HTTPResponse(null, { status: 204 })
    const answer = handlers.get(event.url.pathname.slice(1))
    if (answer === undefined || method !== "POST") return refuse(404, "No such operation")
    return new HTTPResponse(ReadableStream.from(bodyOf(answer(await event.req.text()))), {
      headers: { "content-type": "application/x-ndjson", "cache-control": "no-store", connection: "close" }
    })
  })
  return app
}

const encodeFile = Schema.encodeSync(ControlFile)

/** Serves commands until the scope ends. `ledgerDirectory` is `$LARDER_HOME/ledger`; this process holds its ledger. */
export const serveControl = Effect.fn("Control.serve")(function* (
  ledgerDirectory: string,
  administration: Administration["Service"],
  people: PeopleAdministration["Service"]
) {
  const token = yield* Effect.sync(() => randomBytes(32).toString("base64url"))
  const app = controlApp(handlersOf(administration, people), token)
  const url = yield* listen(app, { what: "control channel", host, port: 0, setting: "LARDER_CONSOLE_PORT" })
  const file = controlFileIn(ledgerDirectory)
  yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        rmSync(`${file}.next`, { force: true }) // an older file would keep its mode
        writeFileSync(`${file}.next`, encodeFile({ url, token }), { mode: 0o600, flag: "wx" })
        renameSync(`${file}.next`, file)
      },
      catch: (cause) => new LedgerUnavailable({ action: `be reached by commands: ${file} cannot be written`, cause })
    }),
    () => Effect.sync(() => rmSync(file, { force: true }))
  )
})

/**
 * The control channel: administrative commands reach the server that holds the ledger. It listens on a loopback port of
 * the system's choice; address and token lie in `$LARDER_HOME/ledger/control.json`, readable by its owner alone, from the
 * start of the server to its end. A file that a killed server left behind is harmless: nobody knows its token any more.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto"
import { renameSync, rmSync, writeFileSync } from "node:fs"
import { Effect, Schema, Stream } from "effect"
import { H3, HTTPResponse } from "h3"
import { AnswerLine, ControlFile, controlFileIn, host, wire } from "./control/wire.ts"
import type { Administration, AdministrationError } from "./ledger/administration.ts"
import { LedgerUnavailable } from "./ledger/store.ts"
import { listen } from "./listen.ts"

type Answer = Stream.Stream<unknown, AdministrationError | Schema.SchemaError>
type Handler = (body: string) => Answer

const handler = <I, IE, O, OE>(
  { input, output }: { readonly input: Schema.Codec<I, IE>; readonly output: Schema.Codec<O, OE> },
  run: (input: I) => Stream.Stream<O, AdministrationError>
): Handler => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(input))
  const encode = Schema.encodeEffect(output)
  return (body) => Stream.unwrap(Effect.map(decode(body), run)).pipe(Stream.mapEffect((value) => encode(value)))
}

const handlersOf = (administration: Administration["Service"]): ReadonlyMap<string, Handler> => {
  const { createAccount, createKey, creditAccount, editKey, entriesOf, listAccounts, listKeys, revokeKey } =
    administration
  return new Map([
    ["createAccount", handler(wire.createAccount, (input) => Stream.fromEffect(createAccount(input)))],
    ["listAccounts", handler(wire.listAccounts, (input) => Stream.fromEffect(listAccounts(input)))],
    ["creditAccount", handler(wire.creditAccount, (input) => Stream.fromEffect(creditAccount(input)))],
    ["createKey", handler(wire.createKey, (input) => Stream.fromEffect(createKey(input)))],
    ["listKeys", handler(wire.listKeys, (input) => Stream.fromEffect(listKeys(input)))],
    ["editKey", handler(wire.editKey, (input) => Stream.fromEffect(editKey(input)))],
    ["revokeKey", handler(wire.revokeKey, (input) => Stream.fromEffect(revokeKey(input)))],
    ["entriesOf", handler(wire.entriesOf, ({ account_id }) => entriesOf(account_id))]
  ])
}

const encodeLine = Schema.encodeSync(AnswerLine)
const toBytes = new TextEncoder()

/** A line per value and one that says how it ended. What went wrong is a line, too. */
const linesOf = (answer: Answer): AsyncIterable<Uint8Array> =>
  answer.pipe(
    Stream.map((value) => encodeLine({ value })),
    Stream.concat(Stream.succeed(encodeLine({ end: true }))),
    Stream.catchTag("SchemaError", (cause) =>
      // the input or the output is not what this version knows
      Stream.succeed(encodeLine({ error: new LedgerUnavailable({ action: "understand this command", cause }) }))
    ),
    Stream.catch((error) => Stream.succeed(encodeLine({ error }))),
    Stream.map((line) => toBytes.encode(`${line}\n`)),
    Stream.toAsyncIterable
  )

const sameText = (a: string, b: string) => timingSafeEqual(hash("sha256", a, "buffer"), hash("sha256", b, "buffer"))

const refuse = (status: number, message: string) => new HTTPResponse(`${message}\n`, { status })

const controlApp = (handlers: ReadonlyMap<string, Handler>, token: string) => {
  const app = new H3({ silent: true })
  app.all("/**", async (event) => {
    const { headers, method } = event.req
    // a web page whose host name leads to this machine sends that name, and cannot send the token
    if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.get("host") ?? "")) return refuse(403, "Loopback only")
    if (!sameText(headers.get("authorization") ?? "", `Bearer ${token}`)) return refuse(401, "Wrong token")
    if (method === "GET" && event.url.pathname === "/") return new HTTPResponse(null, { status: 204 })
    const answer = handlers.get(event.url.pathname.slice(1))
    if (answer === undefined || method !== "POST") return refuse(404, "No such operation")
    return new HTTPResponse(ReadableStream.from(linesOf(answer(await event.req.text()))), {
      headers: { "content-type": "application/x-ndjson", "cache-control": "no-store", connection: "close" }
    })
  })
  return app
}

const encodeFile = Schema.encodeSync(ControlFile)

/** Serves commands until the scope ends. `ledgerDirectory` is `$LARDER_HOME/ledger`, whose ledger this process holds. */
export const serveControl = Effect.fn("Control.serve")(function* (
  ledgerDirectory: string,
  administration: Administration["Service"]
) {
  const token = yield* Effect.sync(() => randomBytes(32).toString("base64url"))
  const app = controlApp(handlersOf(administration), token)
  const url = yield* listen(app, { what: "control channel", host, port: 0, setting: "LARDER_CONSOLE_PORT" })
  const file = controlFileIn(ledgerDirectory)
  yield* Effect.acquireRelease(
    Effect.try({
      try: () => {
        rmSync(`${file}.next`, { force: true }) // an older file would keep its mode
        writeFileSync(`${file}.next`, encodeFile({ url, token, pid: process.pid }), { mode: 0o600, flag: "wx" })
        renameSync(`${file}.next`, file)
      },
      catch: (cause) => new LedgerUnavailable({ action: `be reached by commands: ${file} cannot be written`, cause })
    }),
    () => Effect.sync(() => rmSync(file, { force: true }))
  )
})

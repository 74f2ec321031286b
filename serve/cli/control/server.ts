/**
 * The control channel, through which administrative commands reach the server that holds the ledger. It listens on a
 * loopback port that the operating system chooses. While the server runs, `$LARDER_HOME/ledger/control.json` contains
 * the address and the token, readable only by its owner. The file of a killed server is harmless: its token is no
 * longer valid.
 */
import { hash, randomBytes, timingSafeEqual } from "node:crypto"
import { renameSync, rmSync, writeFileSync } from "node:fs"
import { type Context, Effect, Schema, Stream } from "effect"
import { H3, HTTPResponse } from "h3"
import { listen } from "../../api/index.ts"
import { type Administration, LedgerUnavailable, operations } from "../../ledger/index.ts"
import { type PeopleAdministration, type PeopleError, peopleOperations } from "../../people/index.ts"
import { Actor, describeCommand } from "../../persistence/index.ts"
import {
  CommandRequest,
  ControlFile,
  controlFileIn,
  entriesOperation,
  host,
  lineInterval,
  longOperations,
  ResponseLine
} from "./wire.ts"

type Values = Stream.Stream<Uint8Array, PeopleError | Schema.SchemaError>
type Handler = (body: string) => Values

const encodeLine = Schema.encodeSync(ResponseLine)
const utf8 = new TextEncoder()
const encodeLines = (...lines: ReadonlyArray<typeof ResponseLine.Type>) =>
  utf8.encode(lines.map((line) => `${encodeLine(line)}\n`).join(""))

const makeHandler = <I, O>(
  { input, output }: { readonly input: Schema.Codec<I, unknown>; readonly output: Schema.Codec<O, unknown> },
  run: (input: I) => Stream.Stream<O, PeopleError>
): Handler => {
  const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(CommandRequest(input)))
  const encode = Schema.encodeSync(output)
  return (body) =>
    Effect.map(decode(body), ({ input, user }) => Stream.provideService(run(input), Actor, describeCommand(user))).pipe(
      Stream.unwrap,
      Stream.mapArray((values) => [encodeLines(...values.map((value) => ({ value: encode(value) })))])
    )
}

const makeHandlers = (
  { entriesOf, ...administration }: Administration["Service"],
  people: PeopleAdministration["Service"]
): ReadonlyMap<string, Handler> => {
  // each handler passes on only what the input schema of the same operation has decoded
  const services = { ...administration, ...people } as unknown as Readonly<
    Record<string, (input: unknown) => Effect.Effect<unknown, PeopleError>>
  >
  const single = Object.entries({ ...operations, ...peopleOperations }).map(([name, operation]) => {
    const run = services[name]
    if (run === undefined) throw new Error(`the operation ${name} has no implementation`)
    return [name, makeHandler<unknown, unknown>(operation, (input) => Stream.fromEffect(run(input)))] as const
  })
  return new Map([...single, ["entriesOf", makeHandler(entriesOperation, ({ account_id }) => entriesOf(account_id))]])
}

const emptyLines = Stream.map(Stream.tick(lineInterval), () => utf8.encode("\n"))

const streamBody = (values: Values, isLong: boolean, context: Context.Context<never>): AsyncIterable<Uint8Array> =>
  values.pipe(
    Stream.concat(Stream.succeed(encodeLines({ end: true }))),
    Stream.catchTag("SchemaError", (cause) =>
      Stream.succeed(encodeLines({ error: new LedgerUnavailable({ action: "understand this command", cause }) }))
    ),
    Stream.catch((error) => Stream.succeed(encodeLines({ error }))),
    Stream.merge(isLong ? emptyLines : Stream.empty, { haltStrategy: isLong ? "left" : "both" }),
    Stream.toAsyncIterableWith(context)
  )

const isSameText = (a: string, b: string) => timingSafeEqual(hash("sha256", a, "buffer"), hash("sha256", b, "buffer"))

const refuse = (status: number, message: string) => new HTTPResponse(`${message}\n`, { status })

const makeControlApp = (handlers: ReadonlyMap<string, Handler>, token: string, context: Context.Context<never>) => {
  const app = new H3({ silent: true })
  app.all("/**", async (event) => {
    const { headers, method } = event.req
    // a web page can point its host name at this machine, but its requests carry that name, and no valid token
    if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(headers.get("host") ?? "")) return refuse(403, "Loopback only")
    if (!isSameText(headers.get("authorization") ?? "", `Bearer ${token}`)) return refuse(401, "Wrong token")
    if (method === "GET" && event.url.pathname === "/") return new HTTPResponse(null, { status: 204 })
    const operation = event.url.pathname.slice(1)
    const handler = handlers.get(operation)
    if (handler === undefined || method !== "POST") return refuse(404, "No such operation")
    return new HTTPResponse(
      ReadableStream.from(streamBody(handler(await event.req.text()), longOperations.includes(operation), context)),
      {
        headers: { "content-type": "application/x-ndjson", "cache-control": "no-store", connection: "close" }
      }
    )
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
  const app = makeControlApp(makeHandlers(administration, people), token, yield* Effect.context<never>())
  const url = yield* listen(app, { name: "control channel", host, port: 0, setting: "LARDER_CONSOLE_PORT" })
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

/** `larder-serve mcp`: the tools of a running API for an assistant on this machine, over stdin and stdout. */
import { version } from "@larder/schemas"
import { Config, Effect, Option, Redacted, Runtime, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { readBearerKey } from "../ledger/index.ts"
import { apiUrlSetting } from "../settings.ts"

class NoApiKey extends Schema.TaggedError<NoApiKey>()("NoApiKey", { problem: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 2
  override get message() {
    return `LARDER_API_KEY ${this.problem}. Set it to an API key: svc_data_ and 64 letters and digits. Create one in the console, or with: larder-serve keys create`
  }
}

class NoAddress extends Schema.TaggedError<NoAddress>()("NoAddress", {}) {
  override readonly [Runtime.errorExitCode] = 2
  override get message() {
    return "LARDER_PORT is 0, so larder-serve start takes a free port: pass the address that it prints with --url, or set LARDER_API_URL"
  }
}

/** The key never appears in a message. */
const apiKey = Effect.gen(function* () {
  const given = yield* Config.option(Config.Redacted("LARDER_API_KEY"))
  if (Option.isNone(given) || Redacted.value(given.value) === "") return yield* new NoApiKey({ problem: "is not set" })
  const key = readBearerKey(`Bearer ${Redacted.value(given.value)}`)
  if (key === undefined) return yield* new NoApiKey({ problem: "is not an API key" })
  return key
})

const addressIn = (text: string) => {
  const url = URL.parse(text)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.search + url.hash === ""
  return isPlain ? Option.some(url.href.replace(/\/*(\/mcp)?\/*$/, "")) : Option.none()
}

const url = Flag.String("url").pipe(
  Flag.withMetavar("ADDRESS"),
  Flag.withDescription("Address of the API; by default LARDER_API_URL, else where larder-serve start listens"),
  Flag.filterMap(addressIn, () => "an address such as http://127.0.0.1:8080"),
  Flag.optional
)

export const mcp = Command.make(
  "mcp",
  { url },
  Effect.fn(function* ({ url: given }) {
    const key = yield* apiKey
    const address = Option.isSome(given) ? given : yield* apiUrlSetting
    if (Option.isNone(address)) return yield* new NoAddress()
    const report = Effect.runForkWith(yield* Effect.context<never>())
    // loaded here, so that no other command waits for the protocol library
    const { serveOverStdio } = yield* Effect.promise(() => import("../mcp/stdio.ts"))
    yield* Effect.promise(() =>
      serveOverStdio({ key, url: address.value, version }, (problem) => report(Effect.logWarning(problem)))
    )
  })
).pipe(
  Command.withDescription(
    "Serve the tools of a running API to an assistant on this machine: Model Context Protocol over stdin and stdout. The API key is read from LARDER_API_KEY; calls are charged to it"
  )
)

/** `larder-serve mcp`: the tools of a running API for an assistant on this machine, over stdin and stdout. */
import { version } from "@larder/schemas"
import { untilStopped } from "@larder/warehouse/cli"
import { Config, Effect, Option, Redacted, Runtime, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { readBearerKey } from "../ledger/index.ts"
import { apiUrlSetting } from "../settings.ts"
import { parsedFlag } from "./flags.ts"

class NoApiKey extends Schema.TaggedError<NoApiKey>()("NoApiKey", { problem: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 2
  override get message() {
    return `LARDER_API_KEY ${this.problem}. Set it to an API key: svc_data_ and 64 letters and digits. Create one in the console, or with: larder-serve keys create`
  }
}

class NoAddress extends Schema.TaggedError<NoAddress>()("NoAddress", {}) {
  override readonly [Runtime.errorExitCode] = 2
  override get message() {
    return "LARDER_PORT is 0, so larder-serve start listens on any free port: pass the address that it prints as --url, or set LARDER_API_URL"
  }
}

/** The key never appears in a message. */
const apiKey = Effect.gen(function* () {
  const setting = Redacted.value(yield* Config.Redacted("LARDER_API_KEY").pipe(Config.withDefault(Redacted.make(""))))
  if (setting === "") return yield* new NoApiKey({ problem: "is not set" })
  return readBearerKey(`Bearer ${setting}`) ?? (yield* new NoApiKey({ problem: "is not an API key" }))
})

const parseAddress = (text: string) => {
  const url = URL.parse(text)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.search + url.hash === ""
  return isPlain ? url.href.replace(/\/*(\/mcp|\/v1)?\/*$/, "") : undefined
}

const urlFlag = parsedFlag(
  "url",
  "Address of the API; by default LARDER_API_URL, or the address at which larder-serve start listens",
  { metavar: "ADDRESS", parse: parseAddress, expected: "an address such as http://127.0.0.1:8080" }
).pipe(Flag.optional)

export const mcpCommand = Command.make(
  "mcp",
  { url: urlFlag },
  Effect.fn(function* ({ url }) {
    const key = yield* apiKey
    const address = Option.isSome(url) ? url : yield* apiUrlSetting
    if (Option.isNone(address)) return yield* new NoAddress()
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    // loaded here, so that no other command waits for the protocol library
    const { serveOverStdio } = yield* Effect.promise(() => import("../mcp/stdio.ts"))
    yield* Effect.promise(() =>
      serveOverStdio({ key, url: address.value, version }, (problem) => fork(Effect.logWarning(problem)))
    )
  }, untilStopped)
).pipe(
  Command.withDescription(
    "Serve the tools of a running API to an assistant on this machine: Model Context Protocol over stdin and stdout. The API key is read from LARDER_API_KEY; calls are charged to it"
  )
)

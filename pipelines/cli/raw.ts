/** `larder-ingest raw`: prints one payload of the raw archive as it was fetched. */
import { visible } from "@larder/warehouse/cli"
import { Effect, FileSystem, Schema, Stdio, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { rawFolderIn } from "../run/archive/raw-folder.ts"
import { openPayload, possibleFiles } from "../run/archive/stored-payloads.ts"
import { reasonOf } from "../run/files/causes.ts"
import { openHome } from "../run/run.ts"
import { CommandFailed } from "./flags.ts"

const Sha256 = Schema.String.check(
  Schema.makeFilter((text) => /^[0-9a-f]{64}$/.test(text) || "expected a SHA-256: 64 digits from 0 to 9 and a to f")
)

export const rawCommand = Command.make(
  "raw",
  {
    sha256: Argument.String("sha256").pipe(
      Argument.withSchema(Sha256),
      Argument.withDescription("The SHA-256 of the payload, such as raw_sha256 of a row")
    )
  },
  Effect.fn(function* ({ sha256 }) {
    const fs = yield* FileSystem.FileSystem
    const { home } = yield* openHome
    const folder = rawFolderIn(home)
    const found = yield* Effect.filter(possibleFiles(folder, sha256), (file) => fs.exists(file))
    if (found.length === 0) {
      const problem = `${folder} has no payload ${sha256}. Another home fetched it, or larder-ingest prune has removed it.`
      return yield* new CommandFailed({ code: 1, problem })
    }
    const bytes = Stream.fromAsyncIterable(yield* openPayload(folder, sha256), (cause) => {
      return new CommandFailed({ code: 1, problem: `The payload can no longer be read: ${reasonOf(cause)}` })
    })
    const { stdout, stdoutIsTerminal } = yield* Stdio.Stdio
    const isTerminal = yield* stdoutIsTerminal
    yield* Stream.run(isTerminal ? bytes.pipe(Stream.decodeText(), Stream.map(visible)) : bytes, stdout()).pipe(
      Effect.catchTag("PlatformError", () => Effect.interrupt) // the program stops anyway, and says why
    )
  })
).pipe(
  Command.withDescription(
    "Print a payload of the raw archive, byte for byte as it was fetched; on a terminal, with control characters escaped"
  )
)

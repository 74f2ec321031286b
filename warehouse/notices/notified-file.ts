/** Stores what was last sent in a file of `LARDER_HOME`, for `larder-ingest status --notify`. A server stores it in its ledger. */
import { join } from "node:path"
import { Effect, FileSystem, Schema } from "effect"
import { FileOperationFailed, ifMissing, writeAtomically } from "../disk.ts"
import type { Layout } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import type { Notified } from "./changes.ts"
import { readFreshness } from "./freshness.ts"
import { notifyFreshness } from "./notify-freshness.ts"
import type { Webhook } from "./webhook.ts"

const NotifiedFile = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ subject: Schema.String, state: Schema.String, notified_at: Schema.String }))
)
const decode = Schema.decodeEffect(NotifiedFile)

const failed = (file: string, problem: string) => (cause: unknown) =>
  new FileOperationFailed({
    file,
    problem,
    cause,
    consequence: "If it is damaged, remove it: then everything that is late is sent once more."
  })

const notifiedInFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const read = fs
    .readFileString(file)
    .pipe(ifMissing("[]"), Effect.flatMap(decode), Effect.mapError(failed(file, "cannot be read")))
  const record = Effect.fnUntraced(function* (notified: ReadonlyArray<Notified>, forgotten: ReadonlyArray<string>) {
    const before = yield* read
    const isKept = ({ subject }: Notified) =>
      !forgotten.includes(subject) && !notified.some((other) => other.subject === subject)
    const text = JSON.stringify([...before.filter(isKept), ...notified])
    yield* writeAtomically(file, (temporaryFile) => fs.writeFileString(temporaryFile, text)).pipe(
      Effect.mapError(failed(file, "cannot be written"))
    )
  })
  return { read, record }
})

/** Sends what has changed since the last call, and returns the number of changes. */
export const notifyFreshnessOnce = Effect.fn("notifyFreshnessOnce")(function* (layout: Layout, webhook: Webhook) {
  const states = yield* notifiedInFile(join(layout.home, "notified.json"))
  const notify = Effect.gen(function* () {
    const judged = yield* readFreshness(layout) // by now, another call may have sent what was true before
    return judged === undefined ? 0 : yield* notifyFreshness(judged, states, webhook)
  })
  return yield* withLock(join(layout.home, ".notified.lock"), notify)
})

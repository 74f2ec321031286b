/** Keeps what was last told in a file of `LARDER_HOME`, for `larder-ingest status --notify`. A server keeps it in its ledger. */
import { join } from "node:path"
import { Effect, FileSystem, Schema } from "effect"
import { FileOperationFailed, ifMissing, writeAtomically } from "../disk.ts"
import type { Layout } from "../generation/layout.ts"
import { withLock } from "../generation/lock.ts"
import type { Told } from "./changes.ts"
import { readFreshness } from "./freshness.ts"
import { tellFreshness } from "./tell-freshness.ts"
import type { Webhook } from "./webhook.ts"

const ToldFile = Schema.fromJsonString(
  Schema.Array(Schema.Struct({ subject: Schema.String, state: Schema.String, told_at: Schema.String }))
)
const decode = Schema.decodeEffect(ToldFile)

const failed = (file: string, problem: string) => (cause: unknown) =>
  new FileOperationFailed({
    file,
    problem,
    cause,
    consequence: "If it is damaged, remove it: then everything that is late is told once more."
  })

const toldInFile = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const read = fs
    .readFileString(file)
    .pipe(ifMissing("[]"), Effect.flatMap(decode), Effect.mapError(failed(file, "cannot be read")))
  const record = Effect.fnUntraced(function* (told: ReadonlyArray<Told>, forgotten: ReadonlyArray<string>) {
    const before = yield* read
    const isKept = ({ subject }: Told) =>
      !forgotten.includes(subject) && !told.some((other) => other.subject === subject)
    const text = JSON.stringify([...before.filter(isKept), ...told])
    yield* writeAtomically(file, (temporaryFile) => fs.writeFileString(temporaryFile, text)).pipe(
      Effect.mapError(failed(file, "cannot be written"))
    )
  })
  return { read, record }
})

/** Tells what has changed since the last call, and returns how many changes it told. */
export const tellFreshnessOnce = Effect.fn("tellFreshnessOnce")(function* (layout: Layout, webhook: Webhook) {
  const judged = yield* readFreshness(layout)
  if (judged === undefined) return 0
  const states = yield* toldInFile(join(layout.home, "told.json"))
  return yield* withLock(join(layout.home, ".told.lock"), tellFreshness(judged, states, webhook))
})

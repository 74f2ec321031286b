/**
 * Records of runs that published nothing. A generation never changes, so what such a run has to tell waits in
 * `$LARDER_HOME/journal/<run_id>.json` until the next generation takes it up into `ingest.run`.
 */
import { LeftOut, Run } from "@larder/schemas/ingest.ts"
import { Effect, FileSystem, Path, Schema } from "effect"
import type { CheckOutcome } from "./check.ts"
import { ifMissing, type Layout, writableDirectory } from "./layout.ts"

export type RunRecord = typeof Run.Type
/** A feed that a run left out, as it stands in `ingest.left_out` beside the run. */
export type FeedLeftOut = Pick<typeof LeftOut.Type, "feed" | "kind" | "reason">

const Entry = Schema.fromJsonString(
  Schema.Struct({
    run: Run,
    checks: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        severity: Schema.Literals(["error", "warning"]),
        description: Schema.String,
        bad_rows: Schema.Int,
        examples: Schema.String
      })
    ),
    left_out: Schema.Array(
      Schema.Struct({ feed: LeftOut.fields.feed, kind: LeftOut.fields.kind, reason: LeftOut.fields.reason })
    ).pipe(
      Schema.withDecodingDefaultKey(Effect.succeed([])) // entries of an earlier version have none
    )
  })
)
const encode = Schema.encodeSync(Entry)
const decode = Schema.decodeUnknownEffect(Entry)

export const writeToJournal = Effect.fnUntraced(function* (
  layout: Layout,
  run: RunRecord,
  checks: ReadonlyArray<CheckOutcome>,
  left_out: ReadonlyArray<FeedLeftOut>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* writableDirectory(layout.journal)
  const temporary = path.join(layout.journal, `.${run.run_id}.tmp`)
  yield* fs.writeFileString(temporary, encode({ run, checks, left_out }))
  yield* fs.rename(temporary, path.join(layout.journal, `${run.run_id}.json`))
})

/** What waits in the journal, oldest first, with the files it stands in. */
export const readJournal = Effect.fnUntraced(function* (layout: Layout) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = yield* fs.readDirectory(layout.journal).pipe(ifMissing<ReadonlyArray<string>>([]))
  const files = names.filter((name) => name.endsWith(".json")).sort()
  return yield* Effect.forEach(files, (name) => {
    const file = path.join(layout.journal, name)
    return fs.readFileString(file).pipe(
      Effect.flatMap(decode),
      Effect.map((entry) => [{ file, ...entry }]),
      Effect.catch((cause) => Effect.as(Effect.logWarning(`${file} is no run record and is left alone`, cause), []))
    )
  }).pipe(Effect.map((entries) => entries.flat()))
})

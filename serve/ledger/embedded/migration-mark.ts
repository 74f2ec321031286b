/**
 * The mark in the folder of a ledger that was moved to PostgreSQL. Without it, the same credits could be spent in both.
 * It is written before the database commits the move, and states whether the move is complete.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"
import { Effect, Schema } from "effect"
import { LedgerUnavailable } from "../errors.ts"
import { flushFolder } from "../files.ts"

const markPath = (directory: string) => path.join(directory, "moved-to-postgresql")

const Mark = Schema.Struct({ place: Schema.String, stage: Schema.Literals(["moving", "moved"]) })
type Mark = typeof Mark.Type
const readMark = Schema.decodeUnknownEffect(Schema.fromJsonString(Mark))

export class LedgerMoved extends Schema.TaggedError<LedgerMoved>()("LedgerMoved", {
  file: Schema.String,
  ...Mark.fields
}) {
  override get message() {
    const { file, place, stage } = this
    return stage === "moved"
      ? `This ledger was moved to ${place}: set LARDER_LEDGER_URL. To use the old ledger, which does not contain what was charged since, remove ${file}.`
      : `This ledger was being moved to ${place}, and it is unknown whether the move is complete. Run again: larder-serve ledger migrate. To keep the old ledger, make sure that no server uses that database, and remove ${file}.`
  }
}

const toUnavailable = (cause: unknown) => new LedgerUnavailable({ action: "be marked as moved", cause })

/** Writes the mark atomically, even if the power fails. */
export const writeMigrationMark = (stage: Mark["stage"], directory: string, place: string) =>
  Effect.try({
    try: () => {
      const temporary = `${markPath(directory)}.part`
      writeFileSync(temporary, `${JSON.stringify({ place, stage })}\n`, { flush: true, mode: 0o600 })
      renameSync(temporary, markPath(directory))
      flushFolder(directory)
    },
    catch: toUnavailable
  })

export const refuseMoved = Effect.fnUntraced(function* (directory: string, destination: string | undefined) {
  const file = markPath(directory)
  if (!existsSync(file)) return
  const mark = yield* Effect.try({
    try: () => readFileSync(file, "utf8"),
    catch: (cause) => new LedgerUnavailable({ action: "be opened", cause })
  }).pipe(
    Effect.flatMap(readMark),
    Effect.catchTag("SchemaError", () =>
      Effect.fail(new LedgerUnavailable({ action: "be opened", cause: `${file} was not written by larder-serve` }))
    )
  )
  if (mark.place !== destination) return yield* new LedgerMoved({ file, ...mark })
})

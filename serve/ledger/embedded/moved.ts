/**
 * The mark in the folder of a ledger that was moved into PostgreSQL: two ledgers with the same credits would let them be
 * spent twice.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { Effect, Schema } from "effect"
import { LedgerUnavailable } from "../errors.ts"
import { syncDirectory } from "./files.ts"

const fileIn = (directory: string) => path.join(directory, "moved-to-postgresql")

export class LedgerMoved extends Schema.TaggedError<LedgerMoved>()("LedgerMoved", {
  file: Schema.String,
  place: Schema.String
}) {
  override get message() {
    return `This ledger was moved to ${this.place}: set LARDER_LEDGER_URL. To go on with the old one, which knows nothing of what was charged since, remove ${this.file}.`
  }
}

export const markAsMoved = (directory: string, place: string) =>
  Effect.try({
    try: () => {
      writeFileSync(fileIn(directory), `${place}\n`, { flush: true, mode: 0o600 })
      syncDirectory(directory)
    },
    catch: (cause) => new LedgerUnavailable({ action: "be marked as moved", cause })
  })

export const refuseMoved = (directory: string) =>
  Effect.suspend(() => {
    const file = fileIn(directory)
    return existsSync(file)
      ? Effect.fail(new LedgerMoved({ file, place: readFileSync(file, "utf8").trim() }))
      : Effect.void
  })

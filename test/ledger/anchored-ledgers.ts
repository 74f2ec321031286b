/** Ledgers in folders whose chain is anchored elsewhere. */
import { cpSync, mkdirSync } from "node:fs"
import path from "node:path"
import { anchorPlace, keepFileAnchor, openEmbeddedStore, openLedgerFile, updateSums } from "@larder/serve/ledger"
import { Effect, Option, Redacted } from "effect"
import { oncePerFile } from "../support/once-per-file.ts"
import { append, sampleGroups, temporaryFolder, withDatabase, writeGroups } from "../support/serve/sample-ledger.ts"

export const payment = `
  insert into payment (id, account_id, kind, cents, state, processor, created_at)
  values ('pay_1', 'acct_a', 'top_up', 5000, 'open', 'stripe', '2026-10-30T00:00:00.000Z');
  update payment set state = 'succeeded', reference = 'pi_1', settled_at = '2026-10-30T00:01:00.000Z' where id = 'pay_1'`

/** Once per test file: a ledger that was stopped cleanly, one that was killed with a full log, and the anchor of both. */
export const makeOriginals = () => oncePerFile(createOriginals)

const createOriginals = Effect.gen(function* () {
  const folder = yield* temporaryFolder
  const [stopped, killed] = [path.join(folder, "stopped"), path.join(folder, "killed")]
  mkdirSync(path.join(folder, "elsewhere"))
  const place = anchorPlace(Redacted.make(path.join(folder, "elsewhere", "anchor.json")))
  const older = path.join(folder, "older")
  yield* writeGroups(older, sampleGroups().slice(0, 40))
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* openLedgerFile(stopped)
      const store = yield* openEmbeddedStore(file)
      yield* keepFileAnchor(file, Option.some(place), Effect.void)
      yield* append(store, sampleGroups())
      file.sqlite.exec(payment)
      cpSync(stopped, killed, { recursive: true })
    })
  )
  yield* withDatabase(stopped, updateSums)
  const anchor = Option.getOrThrow(yield* place.read)
  return { stopped, killed, older, anchor, place }
})

export const copyToNewFolder = Effect.fnUntraced(function* (original: string) {
  const folder = yield* temporaryFolder
  cpSync(original, folder, { recursive: true })
  return folder
})

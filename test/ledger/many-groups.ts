/**
 * `node test/ledger/many-groups.ts FOLDER GROUPS`: writes groups of one charge each, one after the other, into a new ledger.
 * The files `FOLDER.first` and `FOLDER.last` are flushed before the first group and after the last one.
 */
import { fsyncSync, openSync } from "node:fs"
import { openLedgerFile } from "@larder/serve/ledger"
import { openEmbeddedStore } from "@larder/serve/ledger/embedded/embedded-store.ts"
import { Effect } from "effect"
import { accountCreation, charges } from "../support/serve/killed-ledger.ts"

const [folder = "", groups] = process.argv.slice(2)
const flush = (name: string) => fsyncSync(openSync(`${folder}.${name}`, "w"))

const write = openLedgerFile(folder).pipe(
  Effect.flatMap(openEmbeddedStore),
  Effect.flatMap((store) =>
    Effect.promise(async () => {
      await store.append(accountCreation)
      flush("first")
      for (let group = 0; group < Number(groups); group++) await store.append(charges(group + 2))
      flush("last")
    })
  ),
  Effect.scoped
)
await Effect.runPromise(write)

/** The ledger in a folder whose process was killed: torn groups, files that are used again, damage, and journals taken up twice. */
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { embeddedStore } from "@larder/serve/ledger/embedded/embedded-store.ts"
import type { Group } from "@larder/serve/ledger/machine.ts"
import { Effect, Logger, Stream } from "effect"
import { aKey, birth, bytesOf, charges, killedAfter, numbersOf } from "../support/serve/killed-ledger.ts"
import { append, opened, refusal, temporaryFolder, written } from "../support/serve/sample-ledger.ts"

/** What the log says meanwhile. */
const logged = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const messages: Array<string> = []
  const logger = Logger.make(({ message }) => messages.push(String(message)))
  const answer = yield* Effect.provide(effect, Logger.layer([logger]))
  return { answer, messages }
})

describe("a group that was not written to its end", () => {
  it.effect("is dropped whole, wherever it was cut, and the log says so", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2), charges(3, 4))
      const whole = readFileSync(journal)
      const groups = Buffer.concat([birth, charges(2), charges(3, 4)].map((group) => bytesOf(group)))
      const lastLength = bytesOf(charges(3, 4)).length
      assert.isTrue(whole.subarray(0, groups.length).equals(groups))
      for (const missing of [1, lastLength / 2, lastLength - 40]) {
        const torn = Buffer.from(whole)
        torn.fill(0, groups.length - Math.floor(missing))
        const copy = path.join(path.dirname(folder), `cut-${missing}`)
        cpSync(folder, copy, { recursive: true })
        writeFileSync(path.join(copy, path.basename(journal)), torn)
        const { answer, messages } = yield* logged(opened(copy, numbersOf))
        assert.match(
          messages.join("\n"),
          /The last group in .*, at byte \d+, was not written to its end and is dropped/
        )
        assert.deepStrictEqual(answer, [1, 2])
      }
    })
  )

  it.effect("is dropped when only its end reached the disk", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2, 3))
      const torn = readFileSync(journal)
      torn.fill(0, bytesOf(birth).length, bytesOf(birth).length + 50)
      writeFileSync(journal, torn)
      assert.deepStrictEqual(yield* opened(folder, numbersOf), [1])
    })
  )

  it.effect("is overwritten by the next group", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2))
      const torn = readFileSync(journal)
      torn.fill(0, bytesOf(birth).length + 30)
      writeFileSync(journal, torn)
      yield* opened(folder, (store) => append(store, [charges(2, 3)]))
      assert.deepStrictEqual(yield* opened(folder, numbersOf), [1, 2, 3])
    })
  )
})

describe("a journal file that is used again", () => {
  it.effect("never returns entries of an older file, at each step at which the process is killed", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const live = path.join(folder, "live")
      const killed: Array<{ readonly folder: string; readonly last: number }> = []
      const run = Effect.gen(function* () {
        const store = yield* embeddedStore(live, { journalFileSize: 4096 })
        yield* append(store, [birth])
        for (let sequence = 2; sequence <= 150; sequence++) {
          yield* append(store, [charges(sequence)])
          // the first files are taken up before they are needed again
          if (sequence % 10 === 0) yield* Stream.runDrain(store.entriesOf("acct_a"))
          if (sequence > 100 && sequence % 16 === 0) {
            const copy = path.join(folder, `killed-${sequence}`)
            cpSync(live, copy, { recursive: true })
            killed.push({ folder: copy, last: sequence })
          }
        }
      })
      yield* Effect.scoped(run)
      for (const { folder, last } of killed) {
        const numbers = yield* opened(folder, numbersOf)
        assert.deepStrictEqual(
          numbers,
          Array.from({ length: last }, (_, index) => index + 1)
        )
      }
    })
  )

  it.effect("ignores what is left of an older file, even a whole group", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2))
      const stale = bytesOf(charges(7), 3)
      writeFileSync(journal, Buffer.concat([bytesOf(birth), bytesOf(charges(2)), stale]))
      assert.deepStrictEqual(yield* logged(opened(folder, numbersOf)), { answer: [1, 2], messages: [] })
    })
  )
})

describe("a damaged journal", () => {
  const contentsOf = (folder: string) =>
    readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name))])

  it.effect("is refused and left as it is when whole groups follow a changed byte", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2), charges(3))
      const bytes = readFileSync(journal)
      const at = bytesOf(birth).length
      bytes.write("9", bytes.indexOf('"credits":-10,', at) + 11)
      writeFileSync(journal, bytes)
      const journalBefore = contentsOf(folder).filter(([name]) => String(name).startsWith("journal"))
      const error = yield* refusal(folder)
      assert.strictEqual(error._tag, "LedgerDamaged")
      assert.include(
        error.message,
        `${journal}: group 2, at byte ${at}, is not what was written, and whole groups follow`
      )
      const journalAfter = contentsOf(folder).filter(([name]) => String(name).startsWith("journal"))
      assert.deepStrictEqual(journalAfter, journalBefore)
    })
  )

  it.effect("is refused when a file ends too early and another file follows", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2))
      const next = path.join(folder, "journal-000002.ndjson")
      writeFileSync(next, bytesOf(charges(3), 2))
      writeFileSync(journal, readFileSync(journal).subarray(0, bytesOf(birth).length + 40))
      const error = yield* refusal(folder)
      assert.match(error.message, /group 2, at byte \d+, is not what was written, and later files follow/)
    })
  )

  it.effect("is refused when entries are missing between the database and the journal", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2))
      writeFileSync(journal, bytesOf(charges(4)))
      const error = yield* refusal(folder)
      assert.match(error.message, /entry 4 follows entry 0, so entries are missing/)
    })
  )
})

describe("a journal that is moved into the database", () => {
  it.effect("adds its entries once when the process died before the file was removed", () =>
    Effect.gen(function* () {
      const edits: Group = { accounts: [], keys: [aKey({ name: "edited", revision: 2 })], entries: [] }
      const { folder, journal } = yield* killedAfter(birth, charges(2))
      const bytes = readFileSync(journal)
      yield* written(folder, [edits, charges(3)])
      writeFileSync(journal, bytes)
      const [snapshot, numbers] = yield* opened(folder, (store) => Effect.all([store.load, numbersOf(store)]))
      assert.strictEqual(snapshot.sequence, 3)
      assert.strictEqual(snapshot.accounts.length, 1)
      assert.deepStrictEqual(snapshot.keys, [aKey({ name: "edited", revision: 2 })])
      assert.deepStrictEqual(numbers, [1, 2, 3])
    })
  )

  it.effect("adds the rest of a file whose beginning is in the database already", () =>
    Effect.gen(function* () {
      const { folder, journal } = yield* killedAfter(birth, charges(2))
      yield* opened(folder, () => Effect.void)
      writeFileSync(journal, Buffer.concat([birth, charges(2), charges(3)].map((group) => bytesOf(group))))
      assert.deepStrictEqual(yield* opened(folder, numbersOf), [1, 2, 3])
    })
  )
})

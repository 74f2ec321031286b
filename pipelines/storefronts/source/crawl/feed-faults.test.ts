/**
 * Each fault of `faulty-stores.ts` in each format, read once over HTTP, and compared with the table in `docs/ingesting.md`.
 * `test/end-to-end/storefront-faults.test.ts` runs the whole program over one fault of each kind.
 */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { oncePerFile } from "@larder/test/support/once-per-file.ts"
import { makeCertificate } from "@larder/test/support/pipelines/certificates.ts"
import { matchesTemplate, readDocumentedFaults } from "@larder/test/support/pipelines/documented-faults.ts"
import { locationOf, startFaultyStore } from "@larder/test/support/pipelines/faulty-store-host.ts"
import {
  cutInPrice,
  formats,
  kindOf,
  newPrice,
  type StoreFault,
  storeFaults
} from "@larder/test/support/pipelines/faulty-stores.ts"
import { network, readOnce, storeAt, type Taken } from "@larder/test/support/pipelines/store-host.ts"
import { startTls } from "@larder/test/support/pipelines/tls-host.ts"
import { makeRandom, seed } from "@larder/test/support/seed.ts"
import { Effect } from "effect"
import { feedKinds } from "../../feed-kinds.ts"
import { isAccepted } from "./outcome.ts"

const documented = readDocumentedFaults("storefronts")
const faults = storeFaults(makeRandom(seed))

/** Two tries. Only a store that never responds is waited for. */
const requests = { maxAttempts: 2, responseTimeout: "2 seconds", maxPause: "2 millis", maxWait: "20 millis" } as const

interface FaultyRead extends Taken {
  readonly store: StoreFault
}

const read = Effect.fnUntraced(function* (store: StoreFault, untrusted: string) {
  const { url } = yield* startFaultyStore(
    store,
    () => newPrice,
    () => true
  )
  const location = locationOf(store, store.isDistrusted ? untrusted : url, true)
  const listed = { kind: kindOf[store.format], location, currency: "EUR" } as const
  const faulty: FaultyRead = { store, ...(yield* readOnce(storeAt({ url }, listed))) }
  return faulty
})

const reads = oncePerFile(
  Effect.gen(function* () {
    const untrusted = yield* startTls(makeCertificate({ name: "unknown", hosts: ["127.0.0.1"] }))
    const readAll = (stores: ReadonlyArray<StoreFault>) =>
      Effect.forEach(stores, (store) => read(store, `https://127.0.0.1:${untrusted.port}`), { concurrency: 16 })
    const faulty = yield* readAll(faults)
    const intact = yield* readAll(formats.map((format) => ({ fault: "", format })))
    return { faulty, intact: new Map(intact.map((taken) => [taken.store.format, taken])) }
  }).pipe(Effect.provide(network({ requests })))
)

const rejectsOf = ({ batches }: Taken) => batches.flatMap((batch) => batch.rejects)
const pricesOf = ({ batches }: Taken) => batches.flatMap((batch) => batch.variants.map(({ price }) => price))

/** The read fails with the documented message. */
const fails = ({ read: { detail, outcome } }: FaultyRead, _: Taken, message: string) => {
  assert.isFalse(isAccepted({ outcome }), outcome)
  assert.isTrue(matchesTemplate(detail ?? "", message), `${detail}\nis not: ${message}`)
}

const isComplete = ({ products, read: { outcome } }: FaultyRead) =>
  assert.deepStrictEqual([outcome, products.length], ["complete", 4])

/** The read is complete, with all rows of the intact feed. */
const changesNothing = (taken: FaultyRead, intact: Taken) => {
  isComplete(taken)
  assert.deepStrictEqual([taken.products, rejectsOf(taken)], [intact.products, []])
}

/** The rows are read without one of the fields that the run compares with the last read. */
const loses = (role: "needed" | "optional") => (taken: FaultyRead, intact: Taken) => {
  isComplete(taken)
  const isSeen = ({ read: { fields_seen } }: Taken, names: ReadonlyArray<string>) =>
    names.some((name) => fields_seen.has(name))
  const lost = Object.values(feedKinds[kindOf[taken.store.format]].fields).filter(
    ({ names }) => isSeen(intact, names) && !isSeen(taken, names)
  )
  assert.deepStrictEqual(
    lost.map(({ isOptional }) => isOptional),
    [role === "optional"]
  )
}

const rejects = (count: number) => (taken: FaultyRead, _: Taken, message: string) => {
  const found = rejectsOf(taken)
  assert.lengthOf(found, count)
  for (const { native_id, reason } of found) {
    assert.isNotNull(native_id) // the product keeps its known data
    if (count === 1) assert.isTrue(matchesTemplate(reason, message), reason)
    else assert.include(reason, "which is not")
  }
}

/** At least three of four products have no price, or one of 0. */
const losesPrices = (taken: FaultyRead) => {
  assert.strictEqual(taken.products.length, 4)
  const priced = pricesOf(taken).filter((price) => price !== null && Number(price) > 0)
  assert.isAtMost(priced.length, 1)
}

type Expectation = (taken: FaultyRead, intact: Taken, message: string) => void

/** What distinguishes the rows of a feed whose fault only a comparison with the last read detects. */
const compared: Readonly<Record<string, Expectation>> = {
  "a needed field with some empty values, renamed": loses("needed"),
  "a needed field with some empty values, missing": loses("needed"),
  "an optional field renamed": loses("optional"),
  "an optional field missing": loses("optional"),
  "a field added": changesNothing,
  "one price of another type": rejects(1),
  "two of four prices of another type": rejects(2),
  "prices that vanish": losesPrices,
  "prices that vanish with their variants": losesPrices,
  "prices that become 0": losesPrices,
  "the feed of another store": (taken, intact) => {
    isComplete(taken)
    assert.deepStrictEqual(
      taken.products.filter((id) => intact.products.includes(id)),
      []
    )
  },
  "CSV and TSV: truncated at the end of a line": (taken) => {
    assert.deepStrictEqual([taken.read.outcome, taken.read.table_end], ["complete", "newline"])
    assert.isBelow(taken.products.length, 4)
  },
  "JSON: a text that is not valid UTF-8": rejects(1),
  "a file: a text that is not valid UTF-8": (taken) => {
    const [reject, ...others] = rejectsOf(taken)
    assert.deepStrictEqual([reject?.native_id, others], [null, []]) // so it is unknown which product it was
  },
  "prices in another currency": ({ read: { currency, outcome } }) =>
    assert.deepStrictEqual([outcome, currency], ["complete", "NOK"])
}

/** The end of the file shows that it was cut: the run compares it with that of the last read. */
const endsInLine = ({ read: { outcome, table_end } }: FaultyRead) =>
  assert.deepStrictEqual([outcome, table_end], ["complete", "mid_line"])

const isCutInPrice = ({ detail }: Taken["read"]) =>
  /none of its 1 rows can be used: .* "\d+\.", which is not/.test(detail ?? "")

const expectTruncated: Expectation = (taken, intact, message) => {
  const { format } = taken.store
  const isTable = format === "csv" || format === "tsv"
  if (isTable && taken.read.outcome === "complete") return endsInLine(taken)
  if (isTable && isCutInPrice(taken.read)) return // the only row, cut after the point of its last price
  fails(taken, intact, message)
}

describe("a fault of the feed of a store, in each format", () => {
  beforeAll(() => Effect.runPromise(Effect.asVoid(reads)), 120_000)
  const names = [...new Set(faults.map(({ fault }) => fault))]

  it.live.each(names)("fails the read as documented, or is visible in its rows: %s", (fault) =>
    Effect.gen(function* () {
      const { faulty, intact } = yield* reads
      const { message = "" } = documented.find((line) => line.fault === fault) ?? {}
      const expectation = fault === "truncated at any byte" ? expectTruncated : (compared[fault] ?? fails)
      for (const taken of faulty.filter(({ store }) => store.fault === fault)) {
        const { format } = taken.store
        const context = `${format}: ${taken.read.outcome} ${taken.read.detail}\n(LARDER_TEST_SEED=${seed})`
        const whole = intact.get(format) ?? assert.fail(format)
        try {
          expectation(taken, whole, message)
        } catch (error) {
          throw new Error(context, { cause: error })
        }
      }
    })
  )

  it.live("is not detected as a cut if its only row ends after the point of a price, but the row is rejected", () =>
    Effect.gen(function* () {
      const { read: found } = yield* read({ fault: "", format: "csv", feed: cutInPrice }, "")
      assert.isTrue(isCutInPrice(found), found.detail ?? "")
    }).pipe(Effect.provide(network({ requests })))
  )
})

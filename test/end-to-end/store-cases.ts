/**
 * Runs over small inputs after public reports about feeds of stores, in the process of the test. All inputs that need
 * only one recording are read in one run, each as a store of its own.
 */
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { replayOrigin } from "@larder/pipelines/run/origins/replay.ts"
import { ingestFromOrigin } from "@larder/pipelines/run/run.ts"
import { storefronts } from "@larder/pipelines/storefronts/storefronts.ts"
import { ConfigProvider, Effect, Logger } from "effect"
import { expect } from "vitest"
import { casesOf } from "../support/shared-samples.ts"
import { type Listed, type Row, rowsOf } from "./storefronts.ts"

const cases = casesOf("stores")

export const caseFile = (...names: ReadonlyArray<string>) => path.join(cases, ...names)

interface CaseRun {
  readonly home: string
  readonly left_out: ReadonlyArray<{ readonly feed: string; readonly reason: string; readonly is_known?: boolean }>
  readonly logs: ReadonlyArray<string>
}

/** Replays a folder with a store list, whose files without a host are looked up in the folder. */
export const replayList = (home: string, stores: string, folder: string): Promise<CaseRun> => {
  const logs: Array<string> = []
  const logger = Logger.map(Logger.formatJson, (line) => void logs.push(line))
  return ingestFromOrigin(storefronts, { home, days: undefined, dryRun: false, stores }).pipe(
    Effect.provide(replayOrigin(folder)),
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({}))),
    Effect.provide([NodeServices.layer, Logger.layer([logger])]),
    Effect.map(({ left_out }) => ({ home, left_out, logs })),
    Effect.runPromise
  )
}

/** A list with a key that is not understood is refused with all its stores, so this input has a run of its own. */
export const listWithEncoding = "g22-encoding-in-the-list"

/** Replays all inputs with a folder `replay` in one run. `folder` is filled with their recordings. */
export const replayTogether = (home: string, folder: string) => {
  const names = readdirSync(cases).filter((name) => existsSync(caseFile(name, "replay")) && name !== listWithEncoding)
  const list = names.flatMap((name): ReadonlyArray<Listed> => {
    cpSync(caseFile(name, "replay"), folder, { recursive: true, errorOnExist: true, force: false })
    return JSON.parse(readFileSync(caseFile(name, "stores.json"), "utf8"))
  })
  const stores = path.join(folder, "stores.json")
  writeFileSync(stores, JSON.stringify(list))
  return replayList(home, stores, folder)
}

/** What a run published and said of one store. */
interface StoreResult {
  readonly fetch_status: unknown
  readonly currency: unknown
  /** The exit code, if the run had read only this store. */
  readonly exit: 0 | 4
  /** Why it was left out, or left out in part; empty if it was not. */
  readonly reason: string
  /** One row for each variant, with the fields of its product. */
  readonly variants: ReadonlyArray<Row>
  /** The reason of each rejected row. */
  readonly rejects: ReadonlyArray<unknown>
  readonly logs: ReadonlyArray<string>
}

const variantsOf = `
  select p.native_id, p.title, p.handle, p.vendor, p.tags, p.category, p.category_evidence,
    list_transform(p.images, lambda image: image.src) as pictures,
    v.price::double as price, v.compare_at_price::double as compare_at_price, v.currency,
    v.sku, v.barcode, v.grams::double as grams, v.available, v.option1, v.option2, s.domain
  from storefront.store s join storefront.listing using (store_id) join storefront.product p using (product_id)
  join storefront.variant v using (product_id) order by place, v.position`

const statusOf = `
  select domain, fetch_status, s.currency from storefront.store s join storefront.store_status using (store_id)`

/** Returns what is published of the store of an input, by the name of the input: its domain without `.example`. */
export type Results = (name: string) => StoreResult

export const readResults = async ({ home, left_out, logs }: CaseRun): Promise<Results> => {
  const [stores, variants, rejects] = [
    await rowsOf(home, statusOf),
    await rowsOf(home, variantsOf),
    await rowsOf(home, "select feed, reason from ingest.reject order by feed, position")
  ]
  const results = stores.map(({ currency, domain, fetch_status }): readonly [string, StoreResult] => {
    const feed = `store/${domain}`
    const own = left_out.filter((left) => left.feed === feed)
    return [
      String(domain).replace(".example", ""),
      {
        fetch_status,
        currency,
        exit: own.some(({ is_known }) => is_known !== true) ? 4 : 0,
        reason: own.map(({ reason }) => reason).join("\n"),
        variants: variants.filter((variant) => variant.domain === domain),
        rejects: rejects.filter((reject) => reject.feed === feed).map(({ reason }) => reason),
        logs: logs.filter((line) => line.includes(String(domain)))
      }
    ]
  })
  const byName = new Map(results)
  return (name) => {
    const result = byName.get(name)
    if (result === undefined) throw new Error(`the run read no store of ${name}`)
    return result
  }
}

const nameOf = ({ native_id, option1 }: Row) => (option1 === null ? String(native_id) : `${native_id} ${option1}`)

/** Values of a column by product, or by product and option where there are options. */
export const columnOf = ({ variants }: StoreResult, column: string) =>
  Object.fromEntries(variants.map((variant) => [nameOf(variant), variant[column]]))

const showPrice = ({ compare_at_price, currency, price }: Row) =>
  price === null ? null : `${price} ${currency}${compare_at_price === null ? "" : `, was ${compare_at_price}`}`

/** Prices by product, such as `70 EUR, was 100`. */
export const pricesOf = ({ variants }: StoreResult) =>
  Object.fromEntries(variants.map((variant) => [nameOf(variant), showPrice(variant)]))

/** Expects that the store lost nothing. */
export const expectComplete = ({ exit, fetch_status, reason, rejects }: StoreResult) => {
  expect([fetch_status, exit, reason]).toEqual(["complete", 0, ""])
  expect(rejects).toEqual([])
}

/** The state after each read of the dairy: rows of the warehouse, and responses of a server that keeps running. */
import { generationId } from "@larder/warehouse"
import { sendOnce } from "../support/api/client.ts"
import { newKey, type Server, startServer, waitUntilServed } from "../support/programs.ts"
import {
  bakeryExport,
  creamery,
  domain,
  fullShelf,
  makeId,
  nameOf,
  productId,
  type ReadName,
  readNames,
  reads,
  stores
} from "./dairy-recordings.ts"
import { newestManifest, parseRunRecord, query, removeFolder, temporaryFolder } from "./ingesting.ts"
import { type Files, outcomesOf, type Row, replayStores, writeFiles } from "./storefronts.ts"

/** The state after a read, in the warehouse and in the API. */
export interface ReadState {
  readonly run: Row
  readonly products: ReadonlyArray<unknown>
  readonly collections: ReadonlyArray<unknown>
  readonly sightings: ReadonlyArray<unknown>
  /** Changes of the dairy's variants in this read: `22 changed 9.5 sold out`. */
  readonly newChanges: ReadonlyArray<string>
  readonly changes: number
  readonly outcome: string | undefined
  readonly store: Row
  /** The outcome of the read of the creamery, its number of listed products and of vanished variants, and all titles. */
  readonly creamery: readonly [outcome: string | undefined, listed: number, vanished: number, titles: string]
  readonly api: {
    readonly store: Row
    /** Native ids of the listed products. */
    readonly listed: ReadonlyArray<number>
    readonly members: unknown
    readonly sixthStatus: number
  }
}

export const jsonOf = (table: string, order: string) =>
  `select to_json(t)::varchar as row from storefront.${table} t order by ${order}`

const changesOf = (run: Row) => `
  select variant_id, change, price::double as price, compare_at_price::double as former, available
  from storefront.variant_change join storefront.store using (store_id)
  where domain = '${domain}' and seen_at in (
    select r.read_at from ingest.store_read r join storefront.store s using (store_id)
    where r.run_id = '${run.run_id}' and s.domain = '${domain}')`

const formatChange = ({ available, change, former, price, variant_id }: Row) =>
  [
    nameOf.get(String(variant_id)) ?? "a variant that was never read",
    change,
    ...(price === null ? [] : [price]),
    ...(former === null ? [] : [`before ${former}`]),
    ...(available === false ? ["sold out"] : [])
  ].join(" ")

/** Makes a function that reads the state from the API of a server. */
const makeApiReader = (api: string, key: string) => {
  const call = async (path: string) => {
    const { json, status } = await sendOnce(api, `/v1/${path}`, { key })
    const { data } = json as { readonly data?: unknown }
    return { status, data }
  }
  const ids = new Map(Object.keys(fullShelf).map((id) => [productId(Number(id)), Number(id)]))
  return async (): Promise<ReadState["api"]> => {
    const at = `stores/${makeId("store")}`
    const [store, products, collections, sixth] = await Promise.all(
      [at, `${at}/products`, `${at}/collections`, `products/${productId(6)}`].map(call)
    )
    const listed = products?.data as ReadonlyArray<Row>
    const rows = collections?.data as ReadonlyArray<Row>
    return {
      store: store?.data as Row,
      listed: listed.map(({ id }) => ids.get(String(id)) ?? 0),
      members: rows[0]?.product_count,
      sixthStatus: sixth?.status ?? 0
    }
  }
}

const readOnce = async (home: string, files: Files) => {
  const folder = writeFiles(temporaryFolder(), { ...files, "stores.json": stores, "bakery.csv": bakeryExport })
  try {
    const { code, stderr, stdout } = await replayStores(home, folder)
    if (code !== 0 && code !== 4) throw new Error(stderr)
    return parseRunRecord({ stdout })
  } finally {
    removeFolder(folder)
  }
}

const readState = async (home: string, run: Row, api: ReadState["api"]): Promise<ReadState> => {
  const [products = [], collections = [], sightings = [], changes = [], [count] = [], [store = {}] = [], [other] = []] =
    await query(
      home,
      jsonOf("product", "product_id"),
      jsonOf("collection", "collection_id"),
      jsonOf("last_seen", "kind, id"),
      changesOf(run),
      `select count(*)::integer as n from storefront.variant_change join storefront.store using (store_id)
     where domain = '${domain}'`,
      `select store.* exclude (run_id), store_status.* exclude (store_id)
     from storefront.store join storefront.store_status using (store_id) where domain = '${domain}'`,
      `select
       (select count(*)::integer from storefront.listing join storefront.store using (store_id)
        where domain = '${creamery}') as listed,
       (select count(*)::integer from storefront.variant_change join storefront.store using (store_id)
        where domain = '${creamery}' and change = 'gone') as vanished,
       (select string_agg(title, ', ' order by native_id) from storefront.product join storefront.store using (store_id)
        where domain = '${creamery}') as titles`
    )
  const outcomes = await outcomesOf(home)
  const parseRows = (found: ReadonlyArray<Row>) => found.map(({ row }): unknown => JSON.parse(String(row)))
  return {
    run,
    products: parseRows(products),
    collections: parseRows(collections),
    sightings: parseRows(sightings),
    newChanges: changes.map(formatChange).sort(),
    changes: Number(count?.n),
    outcome: outcomes[domain],
    store,
    creamery: [outcomes[creamery], Number(other?.listed), Number(other?.vanished), String(other?.titles)],
    api
  }
}

/** Reads the stores seven times into a home, and yields the record of each run. */
export async function* readEach(home: string) {
  for (const name of readNames) yield { name, record: await readOnce(home, reads[name]) }
}

/** Reads the stores seven times, and returns the state after each read. */
export const readAllInTurn = async (home: string): Promise<ReadonlyMap<ReadName, ReadState>> => {
  const states = new Map<ReadName, ReadState>()
  let server: Server | undefined
  try {
    let readApi: (() => Promise<ReadState["api"]>) | undefined
    for await (const { name, record } of readEach(home)) {
      server ??= await startServer(home)
      readApi ??= makeApiReader(server.api, (await newKey(home)).key)
      await waitUntilServed(server, generationId(newestManifest(home).number))
      states.set(name, await readState(home, record, await readApi()))
    }
    return states
  } finally {
    await server?.stop()
  }
}

import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import {
  hastyStore,
  type Misbehaviour,
  network,
  readOnce,
  readShop,
  startShop,
  storeAt
} from "@larder/test/support/pipelines/store-host.ts"
import { Effect, FileSystem, Path } from "effect"
import { Archive } from "../../../run/archive/archive.ts"
import { feedKinds } from "../../feed-kinds.ts"
import type { ListedStore } from "../store-list.ts"
import { noKnownProducts } from "./product-list.ts"

const csv = (rows: number) =>
  ["Handle,Title,Variant Price,Published", ...Array.from({ length: rows }, (_, n) => `p-${n},Product ${n},9.50,true`)]
    .join("\n")
    .concat("\n")

const serving =
  (body: string | Buffer, headers: Record<string, string> = {}): Misbehaviour =>
  ({ path, response }) => {
    if (path !== "/feed.csv") return false
    response.writeHead(200, headers).end(body)
    return true
  }
const readFeed = (misbehave: Misbehaviour, options: Parameters<typeof readShop>[2] = {}) =>
  readShop({ pages: [] }, misbehave, { path: "/feed.csv", store: { kind: "shopify-csv", currency: "USD" }, ...options })

describe("a feed that is one file", () => {
  it.live("is read at its address, after robots.txt", () =>
    Effect.gen(function* () {
      const { requests, products, read } = yield* readFeed(serving(csv(1200)))
      assert.deepStrictEqual(
        [read.outcome, read.currency, read.pages_read, products.length],
        ["complete", "USD", 1, 1200]
      )
      assert.deepStrictEqual(requests, ["/robots.txt", "/feed.csv"])
    })
  )

  it.live("resumes where its body broke off", () =>
    Effect.gen(function* () {
      const body = Buffer.from(csv(1200))
      const ranges: Array<string | undefined> = []
      const interrupt: Misbehaviour = ({ n, path, response }) => {
        if (path !== "/feed.csv") return false
        const { headers } = response.req
        ranges.push(headers.range)
        const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? "")?.[1] ?? 0)
        const rest = body.subarray(from)
        const range = { "content-range": `bytes ${from}-${body.length - 1}/${body.length}` }
        response.writeHead(from > 0 ? 206 : 200, { etag: '"v1"', "content-length": rest.length, ...range })
        if (n > 1) response.end(rest)
        else response.write(rest.subarray(0, 10_000), () => setTimeout(() => response.destroy(), 20)) // or the last piece is lost
        return true
      }
      const { products, read } = yield* readFeed(interrupt)
      assert.deepStrictEqual([read.outcome, products.length], ["complete", 1200])
      assert.deepStrictEqual(ranges, [undefined, "bytes=10000-"])
    })
  )

  it.live.each([
    ["text/csv; charset=iso-8859-1", "latin1"],
    ["text/csv", "utf8"]
  ] as const)("is decoded as its content type states: %s", ([type, encoding]) =>
    Effect.gen(function* () {
      const body = Buffer.from(csv(3).replaceAll("Product", "Café"), encoding)
      const { batches, read } = yield* readFeed(serving(body, { "content-type": type }))
      assert.strictEqual(read.outcome, "complete")
      assert.deepStrictEqual(
        batches.flatMap((batch) => batch.products.map(({ title }) => title)),
        ["Café 0", "Café 1", "Café 2"]
      )
    })
  )

  it.live("is decoded as the store list states, unless it is UTF-8", () =>
    Effect.gen(function* () {
      const store = { kind: "shopify-csv", encoding: "windows-1252" } as const
      for (const encoding of ["latin1", "utf8"] as const) {
        const body = Buffer.from(csv(1).replace("Product", "Café"), encoding)
        const { batches } = yield* readFeed(serving(body, { "content-type": "text/csv; charset=koi8-r" }), { store })
        assert.strictEqual(batches[0]?.products[0]?.title, "Café 0")
      }
    })
  )

  it.live("is unpacked when it is a .gz", () =>
    Effect.gen(function* () {
      const { products, read } = yield* readFeed(serving(gzipSync(csv(3))))
      assert.deepStrictEqual([read.outcome, products.length], ["complete", 3])
    })
  )

  const smallLimit = { policy: { maxFileBytes: 1 << 20 } }
  const bomb = gzipSync(Buffer.concat([Buffer.from(csv(0)), Buffer.alloc(64 << 20, "\n")]))
  it.live.each([
    ["a page of HTML", "<!DOCTYPE html><html><title>Shop</title></html>", {}, "html"],
    ["the page of a locked store", '<html><form action="/password"></form></html>', {}, "locked"],
    ["nothing", "", {}, "unreadable"],
    ["another table", "a,b\n1,2\n", {}, "unreadable"],
    ["only a header", csv(0), {}, "empty"],
    ["a body that is too long", csv(60_000), {}, "too_large"],
    ["a bomb that the host compressed", bomb, { "content-encoding": "gzip" }, "too_large"],
    ["a bomb that is a .gz", bomb, {}, "too_large"],
    ["a .gz in a .gz", gzipSync(gzipSync(csv(3))), {}, "unreadable"],
    ["a damaged .gz", gzipSync(csv(3)).subarray(0, 40), {}, "unreadable"]
  ] as const)("fails when the response is %s", ([, body, headers, outcome]) =>
    Effect.gen(function* () {
      const { batches, read } = yield* readFeed(serving(body, headers), smallLimit)
      assert.deepStrictEqual([read.outcome, read.fetch_status], [outcome, "failed"], read.detail ?? "")
      assert.deepStrictEqual(
        batches.flatMap((batch) => batch.products),
        []
      )
    })
  )

  it.live("leaves nothing in the archive if a small compressed response unpacks to a decompression bomb", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-bomb-" })
      const archive = Archive.layer({ folder, run_id: "run-1", pipeline: "storefronts", days: null })
      const upstream = yield* startShop({ pages: [] }, serving(bomb, { "content-encoding": "gzip" }))
      const request = { url: `${upstream.url}/feed.csv`, accept: "*/*", resumable: true } as const
      const error = yield* Archive.use((raw) => Effect.flip(raw.fetch(request))).pipe(Effect.provide(archive))
      assert.strictEqual(error._tag, "AnswerTooLarge")
      const names = yield* fs.readDirectory(folder, { recursive: true })
      const sizes = yield* Effect.forEach(names, (name) => fs.stat(`${folder}/${name}`))
      assert.isBelow(
        sizes.reduce((sum, { size, type }) => sum + (type === "File" ? Number(size) : 0), 0),
        1000
      )
    }).pipe(Effect.scoped, Effect.provide(network()))
  )

  it.live("is rejected if it breaks off, even after some rows", () =>
    Effect.gen(function* () {
      const whole = gzipSync(csv(40_000))
      const { products, read } = yield* readFeed(serving(whole.subarray(0, whole.length - 1000)))
      assert.deepStrictEqual([read.outcome, read.fetch_status], ["unreadable", "failed"])
      assert.isAbove(products.length, 1000)
    })
  )

  const unpricedCsv = (rows: number) => csv(rows).replaceAll("9.50", "free")
  it.live.each([
    ["no other row was read", unpricedCsv(11)],
    ["usable rows were read before", csv(600) + unpricedCsv(11).slice(csv(0).length)]
  ] as const)("stops after too many unusable rows, and fails, when %s", ([, body]) =>
    Effect.gen(function* () {
      const fewRejects = { policy: { maxRejects: 10 } }
      const { read } = yield* readFeed(serving(body), fewRejects)
      assert.deepStrictEqual([read.outcome, read.fetch_status], ["unreadable", "failed"])
      assert.match(read.detail ?? "", /\(11 rows cannot be used\)\.$/)
    })
  )

  it.live("is read to its end with exactly as many unusable rows as allowed", () =>
    Effect.gen(function* () {
      const body = csv(5) + unpricedCsv(10).slice(csv(0).length)
      const { batches, products, read } = yield* readFeed(serving(body), { policy: { maxRejects: 10 } })
      assert.deepStrictEqual([read.outcome, products.length], ["complete", 5])
      assert.strictEqual(
        batches.reduce((sum, { rejects }) => sum + rejects.length, 0),
        10
      )
    })
  )

  it.live.each([
    ["is partial when some were read", csv(600), "budget", "partial"],
    ["fails when none could be used", unpricedCsv(600), "unreachable", "failed"]
  ] as const)("stops when its rows take too long to read, and %s", ([, body, outcome, fetch_status]) =>
    Effect.gen(function* () {
      const upstream = yield* startShop({ pages: [] }, serving(body))
      const store = storeAt({ url: `${upstream.url}/feed.csv` }, { kind: "shopify-csv" })
      const policy = { ...hastyStore, budget: "1 second" } as const
      const read = yield* feedKinds[store.kind].read(store, () => Effect.never, policy, noKnownProducts)
      assert.deepStrictEqual([read.outcome, read.fetch_status], [outcome, fetch_status])
      assert.match(read.detail ?? "", /\(its rows took too long to read\)\.$/)
    }).pipe(Effect.provide(network()), Effect.scoped)
  )

  it.live("is not requested when robots.txt forbids it", () =>
    Effect.gen(function* () {
      const forbidding: Misbehaviour = ({ path, response }) => {
        if (path === "/robots.txt") response.end("User-agent: *\nDisallow: /*.csv$")
        return path === "/robots.txt"
      }
      const { requests, read } = yield* readFeed(forbidding)
      assert.deepStrictEqual([read.outcome, requests], ["forbidden", ["/robots.txt"]])
    })
  )
})

/** Reads a store whose location is a path, with these files on the machine. */
const readPath = (location: string, isAllowed = true) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-files-" })
    const storeFiles = path.join(folder, "stores")
    yield* fs.makeDirectory(path.join(storeFiles, "a b"), { recursive: true })
    yield* fs.writeFileString(path.join(folder, "secret.csv"), csv(9))
    yield* fs.writeFileString(path.join(storeFiles, "a b", "feed #1.csv"), csv(2))
    yield* fs.symlink(path.join(folder, "secret.csv"), path.join(storeFiles, "link.csv"))
    yield* fs.symlink(folder, path.join(storeFiles, "out"))
    const store: ListedStore = storeAt({ url: location.replace("<folder>", folder) }, { kind: "shopify-csv" })
    const env = isAllowed ? { LARDER_STORE_FILES: storeFiles } : {}
    return yield* readOnce(store).pipe(Effect.provide(network({ env })))
  }).pipe(Effect.provide(network()), Effect.scoped)

describe("a feed that is a local file", () => {
  it.live("is read below the configured folder", () =>
    Effect.gen(function* () {
      const { products, read } = yield* readPath("a b/feed #1.csv")
      assert.deepStrictEqual([read.outcome, products.length], ["complete", 2], read.detail ?? "")
    })
  )

  it.live.each(["../secret.csv", "<folder>/secret.csv", "link.csv", "out/secret.csv", "a b", "none.csv", "a%2Fb"])(
    "fails for the path %s",
    (location) =>
      Effect.gen(function* () {
        const { batches, read } = yield* readPath(location)
        assert.strictEqual(read.fetch_status, "failed", read.detail ?? "")
        assert.lengthOf(batches, 0)
      })
  )

  it.live("fails if no folder is configured", () =>
    Effect.gen(function* () {
      const { read } = yield* readPath("a b/feed #1.csv", false)
      assert.strictEqual(read.fetch_status, "failed")
      assert.include(read.detail ?? "", "LARDER_STORE_FILES")
    })
  )
})

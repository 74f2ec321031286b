/** A disk that loses what it holds of branded foods while a server reads it. */
import { chmodSync, readFileSync, realpathSync, truncateSync, writeFileSync } from "node:fs"
import path from "node:path"
import { carriedFolder } from "@larder/warehouse/generation/carried.ts"
import { afterEach, beforeAll, describe, expect, it } from "vitest"
import { createKey, statement } from "../support/api/operator.ts"
import { errorOf, servedAlone } from "../support/api/served.ts"

const api = servedAlone()
let records = ""
let whole = Buffer.alloc(0)
let id = ""
beforeAll(async () => {
  const folder = carriedFolder(realpathSync(path.join(api.home(), "warehouse/larder.duckdb")), "foods")
  records = path.join(folder, "records.tsv")
  whole = readFileSync(records)
  chmodSync(records, 0o644)
  const { json } = await api.get("/v1/branded-foods?limit=1")
  id = (json as { readonly data: ReadonlyArray<{ readonly id: string }> }).data[0]?.id ?? ""
})
afterEach(() => writeFileSync(records, whole))

/** In place: the server has the file open. */
const damages: ReadonlyArray<readonly [damage: string, damage: () => void, told: RegExp]> = [
  [
    "overwritten",
    () => writeFileSync(records, Buffer.alloc(whole.length)),
    /records\.tsv.*has another line where that of/
  ],
  ["cut", () => truncateSync(records, 10), /records\.tsv.*ends before byte \d+/]
]

describe.each(damages)("records that are %s under a running server", (_damage, damage, told) => {
  it("answers 500 `internal` free of charge, logs it, and still answers what needs no records", async () => {
    const key = await createKey(api.home())
    const get = (target: string) => api.get(target, { key: key.key })
    const targets = [`/v1/branded-foods/${id}`, "/v1/branded-foods", "/v1/branded-foods?ingredient=salt&limit=1"]
    damage()
    for (const target of targets) {
      const failed = await get(target)
      expect(errorOf(failed)).toBe("500 internal: An unexpected error occurred")
      expect(failed.headers["x-credits-charged"]).toBe("0")
    }
    expect(errorOf(await get("/v1/branded-foods/none"))).toBe("404 not_found: Unknown branded food: none")
    expect((await get("/v1/branded-foods?name=no+such+food+anywhere")).text).toBe('{"data":[],"next_cursor":null}')
    expect((await get("/v1/branded-foods/categories")).status).toBe(200)
    writeFileSync(records, whole)
    for (const target of targets) expect((await get(target)).status).toBe(200)
    expect(api.server().logs()).toMatch(told)
    const entries = await statement(api.home(), key.account_id)
    expect(entries.map(({ credits }) => credits)).toEqual([5_000, -10, -10, -10, -10, -10])
  })
})

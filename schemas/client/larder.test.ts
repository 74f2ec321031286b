/** Compares the client with the list of endpoints, and checks what it imports. */
import { readFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { endpoints } from "../data-sets.ts"
import { Larder, largestPages, paths } from "./larder.ts"

const key = `svc_data_${"k".repeat(64)}`
const larder = new Larder({ key, url: "http://127.0.0.1:9" })
const publicNames = [...Object.keys(larder), ...Object.getOwnPropertyNames(Larder.prototype)]

/** The files that a browser loads, without types: the client, and every file that it imports. */
const loadFiles = (file: URL, files = new Map<string, string>()): ReadonlyMap<string, string> => {
  if (files.has(file.href)) return files
  const code = stripTypeScriptTypes(readFileSync(file, "utf8"))
  files.set(file.href, code)
  for (const [, specifier = ""] of code.matchAll(/(?:from|import)\s*\(?\s*["']([^"']+)["']/g)) {
    expect(specifier, `an import of ${fileURLToPath(file)}`).toMatch(/^\.\//)
    loadFiles(new URL(specifier, file), files)
  }
  return files
}

describe("the methods of the client", () => {
  it("have the paths of all endpoints", () => {
    expect(Object.entries(paths)).toEqual(endpoints.map(({ id, path }) => [id, path]))
  })
  it("are one per endpoint, and searchCommodityProducts", () => {
    expect(publicNames.toSorted()).toEqual(
      [...Object.keys(paths), "searchCommodityProducts", "constructor", "lastCall"].toSorted()
    )
  })
  it("include all paged endpoints, with their maximum page sizes", () => {
    const limits = endpoints.flatMap(({ id, parameters: { limit } }) => (limit === undefined ? [] : [{ id, limit }]))
    expect(limits.map(({ id }) => id)).toEqual(Object.keys(largestPages))
    for (const { id, limit } of limits) {
      const largest = Object.entries(largestPages).find(([name]) => name === id)?.[1]
      const above = limit.read("limit", "1000000")
      expect([id, limit.read("limit", String(largest))]).toEqual([id, { value: largest }])
      expect("value" in above ? above.value : largest).toBe(largest)
      if ("invalid" in above) expect(limit.read("limit", String(Number(largest) + 1))).toEqual(above)
    }
  })
  it("have the same required parameters in their types as the endpoints", () => {
    const required = endpoints.flatMap(({ parameters }) =>
      Object.values(parameters).flatMap(({ kind, required }) => (required === (kind === "list") ? [] : [kind]))
    )
    expect(required, "kinds that are required in only one of types and endpoints").toEqual([])
  })
})

describe("the files of the client", () => {
  const files = loadFiles(new URL("larder.ts", import.meta.url))
  it("import only files of their own folder, and use nothing specific to Node", () => {
    const code = [...files.values()].join("\n")
    expect(code).not.toMatch(/\b(process|Buffer|require|__dirname)\b\.?/)
    expect(files.size).toBe(6)
  })
  it("are smaller than 20 kB in total, comments included", () => {
    const bytes = [...files.values()].reduce((sum, code) => sum + Buffer.byteLength(code.replace(/[ \t]+$/gm, "")), 0)
    expect(bytes).toBeLessThan(20_000)
  })
})

describe("a call with an invalid value", () => {
  it.each([
    [
      "an id has an unpaired surrogate",
      () => larder.getStore("platform_store_\ud83e"),
      /^id .*"platform_store_\\ud83e"$/
    ],
    [
      "the id of a list has an unpaired surrogate",
      () => larder.getStoreProducts("platform_store_\ud83e"),
      /^id must not contain an unpaired surrogate/
    ],
    [
      "a filter has an unpaired surrogate",
      () => larder.searchStores({ query: "bread \ud83c" }),
      /^query must not contain an unpaired surrogate: "bread \\ud83c"$/
    ],
    [
      "a name in a list has an unpaired surrogate",
      () => larder.getCommodityPrices({ series: ["butter", "\udf5e"] }),
      /^series must not contain an unpaired surrogate/
    ],
    ["one text names two series", () => larder.getCommodityPrices({ series: ["a", "b,c"] }), /^series .*"b,c" would/],
    [
      "one string names two metrics",
      () => larder.getCommodityMetricValues({ metrics: ["a,b"] }),
      /^metrics must not contain/
    ]
  ])("is rejected before it is made because %s", async (_, call, message) => {
    await expect(call()).rejects.toThrow(message)
    await expect(call()).rejects.toThrow(TypeError)
  })
})

describe("a client with invalid options", () => {
  const url = "https://api.example.com"
  it.each([
    ["a key with a line end", { key: `${key}\n`, url }, /^key must be svc_data_/],
    ["a truncated key", { key: key.slice(0, -1), url }, /^key must be svc_data_/],
    ["an address that is not a URL", { key, url: "api.example.com" }, /Invalid URL/],
    ["an address of a file", { key, url: "file:///etc/hosts" }, /^url must be an http/],
    ["an address with a password", { key, url: "https://me:secret@api.example.com" }, /^url must be an http/],
    ["a negative number of retries", { key, url, retries: -1 }, /^retries must be/]
  ])("is rejected with %s", (_, options, message) => {
    expect(() => new Larder(options)).toThrow(message)
    expect(() => new Larder(options)).toThrow(TypeError)
  })
  it("is rejected without showing its key", () => {
    expect(() => new Larder({ key: "svc_data_sesame", url })).toThrow(/^((?!sesame).)*$/s)
  })
  it("does not show a valid key in its properties", () => {
    expect(JSON.stringify(larder)).not.toContain("kkk")
    expect(Object.values(larder).map(String).join()).not.toContain("kkk")
  })
})

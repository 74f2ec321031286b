/** A hash of the mapping: all files that decide what a feed row becomes. */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"

const isOfMapping = (name: string) => /\.(ts|txt|sql)$/.test(name) && !/\.test\.ts$/.test(name)

const filesIn = (folder: URL) => readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(isOfMapping).sort()

const hash = createHash("sha256")
for (const folder of ["decode/", "normalise/"].map((name) => new URL(name, import.meta.url))) {
  for (const name of filesIn(folder)) {
    hash.update(`${name}\n`).update(readFileSync(new URL(name.replaceAll("\\", "/"), folder)))
  }
}
export const mappingHash = hash.update(readFileSync(new URL("stage/feed-tables.sql", import.meta.url))).digest("hex")

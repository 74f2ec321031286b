/** Writes a synthetic release and prints its number of foods. A separate process, because the generator is synchronous. */
import { readdirSync, rmSync } from "node:fs"
import path from "node:path"
import { writeCsvRelease } from "../../samples/branded-foods/csv.ts"
import { writeJsonRelease } from "../../samples/branded-foods/json.ts"
import { writeZip } from "../../samples/branded-foods/zip.ts"
import type { Task } from "./releases.ts"

const { folder, form, name, size, zipped } = JSON.parse(process.argv[2] ?? "{}") as Task
const zip = path.join(folder, `${name}.zip`)

const writeJson = async () => {
  const file = path.join(folder, `${name}.json`)
  const { foods } = await writeJsonRelease(file, size)
  await writeZip([{ file, name: `${name}.json` }], zip)
  rmSync(file)
  return foods
}

const writeCsv = async () => {
  const unpacked = path.join(folder, name)
  const { foods } = await writeCsvRelease(unpacked, size)
  const files = readdirSync(unpacked).map((file) => ({ file: path.join(unpacked, file), name: `${name}/${file}` }))
  if (zipped) await writeZip(files, zip)
  return foods
}

console.log(form === "json" ? await writeJson() : await writeCsv())

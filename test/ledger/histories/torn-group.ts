/** What a power cut leaves of the group that was being written: some of its bytes, and what was there before. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import type { Death } from "./subject.ts"

const isJournal = (name: string) => /^journal[-.]/.test(name)

/** The journal files of a folder, by name. */
export const journalsIn = (folder: string): ReadonlyMap<string, Buffer> =>
  new Map(
    readdirSync(folder)
      .filter(isJournal)
      .map((name) => [name, readFileSync(path.join(folder, name))])
  )

/** Takes a part of the last group back, in the folder where it was written whole. At least one byte goes, and one stays. */
export const tear = (folder: string, before: ReadonlyMap<string, Buffer>, { tear, tornAt }: Death): void => {
  const journals = journalsIn(folder)
  const name = [...journals.keys()]
    .filter((name) => name.endsWith(".ndjson"))
    .sort()
    .at(-1)
  const whole = journals.get(name ?? "")
  if (name === undefined || whole === undefined) throw new Error(`there is no journal in ${folder}`)
  const earlier = before.get(name) ?? before.get("journal.next") ?? Buffer.alloc(0)
  const was = Buffer.concat([earlier, Buffer.alloc(Math.max(0, whole.length - earlier.length))])
  const first = whole.findIndex((byte, at) => byte !== was[at])
  const last = whole.findLastIndex((byte, at) => byte !== was[at])
  if (first === last) throw new Error(`nothing was written to ${name}`)
  const cut = first + 1 + Math.floor(tear * (last - first - 1))
  const torn = Buffer.from(whole)
  if (tornAt === "end") was.copy(torn, cut, cut, last + 1)
  else was.copy(torn, first, first, cut)
  writeFileSync(path.join(folder, name), torn)
}

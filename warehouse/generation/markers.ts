/**
 * Local markers for finished work that does not have to be repeated, such as the verification of a file. A marker is a
 * JSON object with what was true when the work was done. If it is missing, damaged or cannot be written, the work is
 * repeated.
 *
 * Work on a file is marked with the stamp of the file: its size, inode and modification time. The change time is not
 * used, because every new hard link sets it.
 */
import type { BigIntStats } from "node:fs"
import { mkdir, readFile, stat, writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect, Option, Schema } from "effect"
import { causeText } from "../disk.ts"
import type { Layout } from "./layout.ts"

const Facts = Schema.Record(Schema.String, Schema.String)
type Facts = typeof Facts.Type
const FactsFromJson = Schema.fromJsonString(Facts)
const decodeFacts = Schema.decodeUnknownOption(FactsFromJson)
const encodeFacts = Schema.encodeSync(FactsFromJson)

export const toStamp = ({ ino, mtimeNs, size }: BigIntStats) => `${size} ${ino} ${mtimeNs}`
export const readStamp = async (file: string) => toStamp(await stat(file, { bigint: true }))

/** The marker for the sidecar files that this machine made from a database. */
export const sidecarsMarker = (sha256: string) => `${sha256}.sidecars`

/** What a marker states: nothing, if there is none. */
export const readMarker = ({ markers }: Layout, name: string) =>
  Effect.promise(async (): Promise<Facts> => {
    const text = await readFile(path.join(markers, name), "utf8").catch(() => undefined)
    return Option.getOrElse(decodeFacts(text), () => ({}))
  })

/** Whether a marker states these facts, and possibly more. */
export const isMarked = (layout: Layout, name: string, facts: Facts) =>
  Effect.map(readMarker(layout, name), (marker) =>
    Object.entries(facts).every(([fact, value]) => marker[fact] === value)
  )

/** For work that must not be repeated every second: the caller reports the failure. */
export const storeMarker = async ({ markers }: Layout, name: string, facts: Facts) => {
  await mkdir(markers, { recursive: true })
  await writeFile(path.join(markers, name), `${encodeFacts(facts)}\n`)
}

export const writeMarker = (layout: Layout, name: string, facts: Facts) =>
  Effect.tryPromise(() => storeMarker(layout, name, facts)).pipe(
    Effect.catch((error) => Effect.logDebug(`The marker ${name} could not be written: ${causeText(error.cause)}`))
  )

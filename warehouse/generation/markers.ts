/**
 * Local markers for finished work that does not have to be repeated, such as the verification of a file. If a marker is
 * missing or cannot be written, the work is repeated.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect } from "effect"
import { causeText } from "../disk.ts"
import type { Layout } from "./layout.ts"

export const readMarker = ({ markers }: Layout, name: string) =>
  Effect.promise(() => readFile(path.join(markers, name), "utf8").catch(() => undefined))

export const writeMarker = ({ markers }: Layout, name: string, text: string) =>
  Effect.tryPromise(async () => {
    await mkdir(markers, { recursive: true })
    await writeFile(path.join(markers, name), text)
  }).pipe(
    Effect.catch((error) => Effect.logDebug(`The marker ${name} could not be written: ${causeText(error.cause)}`))
  )

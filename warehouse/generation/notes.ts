/**
 * Local markers for finished work that does not have to be repeated, such as the verification of a file. If a note is
 * missing or cannot be written, the work is repeated.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect } from "effect"
import { causeText } from "../disk.ts"
import type { Layout } from "./layout.ts"

export const readNote = ({ notes }: Layout, name: string) =>
  Effect.promise(() => readFile(path.join(notes, name), "utf8").catch(() => undefined))

export const writeNote = ({ notes }: Layout, name: string, text: string) =>
  Effect.tryPromise(async () => {
    await mkdir(notes, { recursive: true })
    await writeFile(path.join(notes, name), text)
  }).pipe(Effect.catch((error) => Effect.logDebug(`The note ${name} could not be written: ${causeText(error.cause)}`)))

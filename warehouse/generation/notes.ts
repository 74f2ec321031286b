/**
 * Notes of this machine about work that need not be repeated, such as the verification of a file. If a note is missing
 * or cannot be written, the work is repeated.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises"
import path from "node:path"
import { Effect } from "effect"
import type { Layout } from "./layout.ts"

export const readNote = ({ notes }: Layout, name: string) =>
  Effect.promise(() => readFile(path.join(notes, name), "utf8").catch(() => undefined))

export const writeNote = ({ notes }: Layout, name: string, text: string) =>
  Effect.promise(() =>
    mkdir(notes, { recursive: true })
      .then(() => writeFile(path.join(notes, name), text))
      .catch(() => undefined)
  )

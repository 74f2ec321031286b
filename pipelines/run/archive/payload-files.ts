/** Lists the files of payloads in the archive. Whatever else is there gets a warning, and stays as it is. */
import path from "node:path"
import { Effect, FileSystem } from "effect"
import { reasonOf } from "../files/causes.ts"

export interface PayloadFile {
  readonly sha256: string
  readonly file: string
  readonly isCompressed: boolean
}

const otherFolders = new Set(["fetches", "incoming"])

export const warnOfOddEntry = (file: string, problem: string) =>
  Effect.logWarning(`${file} in the raw archive is ignored: ${problem}`)

export const listPayloadFiles = Effect.fnUntraced(function* (root: string) {
  const fs = yield* FileSystem.FileSystem
  const found: Array<PayloadFile> = []
  for (const folder of yield* fs.readDirectory(root)) {
    if (otherFolders.has(folder)) continue
    const folderPath = path.join(root, folder)
    if (!/^[0-9a-f]{2}$/.test(folder)) {
      yield* warnOfOddEntry(folderPath, "it is no folder of payloads")
      continue
    }
    const names = yield* fs
      .readDirectory(folderPath)
      .pipe(
        Effect.catch(({ reason }) =>
          Effect.as(
            warnOfOddEntry(folderPath, `it cannot be read as a folder (${reasonOf(reason.cause ?? reason)})`),
            []
          )
        )
      )
    for (const name of names) {
      const file = path.join(folderPath, name)
      const [, sha256, ending] = /^([0-9a-f]{64})(\.zst)?$/.exec(name) ?? []
      if (sha256?.startsWith(folder)) found.push({ sha256, file, isCompressed: ending !== undefined })
      else yield* warnOfOddEntry(file, "its name is not that of a payload")
    }
  }
  return found
})

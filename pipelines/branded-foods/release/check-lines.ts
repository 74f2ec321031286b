/**
 * The slow and exact look at a chunk that DuckDB refused as a whole: each line is decoded as strict UTF-8, parsed and held
 * against the shapes that are expected; the good ones stay in the file, the others are told of. About 100 MB/s; a release without bad records never comes here.
 */
import { readFile, rename, writeFile } from "node:fs/promises"
import { basename } from "node:path"
import { Effect } from "effect"
import { shapeProblem } from "../json/shape.ts"
import { type FoodReject, payloadOf } from "./food-list.ts"
import { FileUnwritable } from "./write-all.ts"

const lineFeed = 0x0a
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** DuckDB refuses half of a surrogate pair, which JSON.parse lets pass. */
const wellFormed = (key: string, value: unknown) => {
  if (!key.isWellFormed() || (typeof value === "string" && !value.isWellFormed())) {
    throw new SyntaxError(`half of a surrogate pair in "${key.toWellFormed()}"`)
  }
  return value
}

const whyBroken = (bytes: Buffer): string | undefined => {
  let text: string
  try {
    text = strict.decode(bytes)
  } catch {
    return "the record is no valid UTF-8" // the decoder says no more than that
  }
  try {
    return shapeProblem(/\\u[dD][89a-fA-F]/.test(text) ? JSON.parse(text, wellFormed) : JSON.parse(text))
  } catch (error) {
    // the engine quotes the text around the place, and the payload has it already
    const reason = error instanceof Error ? error.message.replace(/, (\.\.\.)?".*$/s, "") : String(error)
    return `the record is no JSON: ${reason}`
  }
}

/** The line number that was put in front, and the record as it was. */
const apart = (bytes: Buffer) => {
  const rest = bytes.indexOf(",")
  const line = Number.parseInt(bytes.toString("latin1", '{"line":'.length, 24), 10)
  return { line, record: Buffer.concat([Buffer.from("{"), bytes.subarray(rest + 1)]) }
}

const check = async (file: string) => {
  const bytes = await readFile(file)
  const good: Array<Buffer> = []
  const rejects: Array<FoodReject> = []
  for (let from = 0; from < bytes.length; ) {
    const found = bytes.indexOf(lineFeed, from)
    const end = found === -1 ? bytes.length : found
    const reason = whyBroken(bytes.subarray(from, end))
    if (reason === undefined) good.push(bytes.subarray(from, end + 1))
    else {
      const { line, record } = apart(bytes.subarray(from, end))
      rejects.push({ line, reason, payload: payloadOf(record) })
    }
    from = end + 1
  }
  if (rejects.length > 0) {
    await writeFile(`${file}.good`, good)
    await rename(`${file}.good`, file)
  }
  return { records: good.length, rejects }
}

/** Leaves the good lines in the chunk's file. A chunk is about 64 MB, and all of it is held. */
export const checkLines = (file: string) =>
  Effect.tryPromise({
    try: () => check(file),
    catch: (cause) => new FileUnwritable({ file: basename(file), cause })
  })

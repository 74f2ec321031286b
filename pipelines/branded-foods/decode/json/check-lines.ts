/**
 * The slow and exact checks of a chunk that could not be loaded as a whole. `checkLines` removes lines that break the
 * rules of a release, and optional parts of another shape: about 60 MB/s in constant memory. `removeUnreadableLines`
 * removes lines that only DuckDB rejects.
 */
import { createReadStream } from "node:fs"
import { appendFile, open, rename, rm, writeFile } from "node:fs/promises"
import { basename } from "node:path"
import type { DuckDb, DuckDbError } from "@larder/warehouse"
import { Effect, Stream } from "effect"
import { pieceBytes } from "../../../run/files/chunk-size.ts"
import { FileUnwritable } from "../../../run/files/write-all.ts"
import { isPlaceholder } from "../../../run/placeholders.ts"
import { makeBufferedWriter } from "../buffered-writer.ts"
import { firstLineOf, isRecordError } from "../duckdb-faults.ts"
import { findDuplicateKey } from "./duplicate-keys.ts"
import { FoodListUnusable, type FoodReject, maxRejectBytes, otherLayout, shortenPayload } from "./food-list.ts"
import { readChunkSql } from "./keys.ts"
import { hasTwoRecords } from "./record-layout.ts"
import { compareWithShape, type OddPart, separateParts } from "./record-parts.ts"

const lineFeed = Buffer.from("\n")

/** The lines of a chunk as the splitter wrote them, `{"line":123,…}`, one at a time: each has up to 16 MB. */
async function* readLines(file: string): AsyncGenerator<Buffer, void, undefined> {
  let started: Array<Buffer> = []
  for await (const data of createReadStream(file, { highWaterMark: pieceBytes })) {
    const piece: Buffer = data
    let from = 0
    for (let end = piece.indexOf(lineFeed); end !== -1; end = piece.indexOf(lineFeed, from)) {
      const rest = piece.subarray(from, end)
      yield started.length === 0 ? rest : Buffer.concat([...started, rest])
      started = []
      from = end + 1
    }
    if (from < piece.length) started.push(piece.subarray(from))
  }
  if (started.length > 0) yield Buffer.concat(started)
}

/** The line number that the splitter added. */
const lineOf = (bytes: Buffer) => Number.parseInt(bytes.toString("latin1", '{"line":'.length, 24), 10)

/** The reject of a line: its number, and the original record. */
const makeReject = (bytes: Buffer, reason: string): FoodReject => {
  const comma = bytes.indexOf(",")
  const line = lineOf(bytes)
  const start = bytes.subarray(comma + 1, comma + 1 + maxRejectBytes)
  return { line, reason, payload: shortenPayload(Buffer.concat([Buffer.from("{"), start])) }
}

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** DuckDB rejects half of a surrogate pair, which JSON.parse accepts. */
const requireWellFormed = (key: string, value: unknown) => {
  if (!key.isWellFormed() || (typeof value === "string" && !value.isWellFormed())) {
    throw new SyntaxError(`half of a surrogate pair in "${key.toWellFormed()}"`)
  }
  return value
}

interface CheckedLine {
  /** Why the record is rejected. */
  readonly problem?: string | undefined
  /** The line without `odd` and `rejected`. */
  readonly kept: Buffer
  readonly odd: ReadonlyArray<OddPart>
  readonly rejected: ReadonlyArray<FoodReject>
}

/** A NUL, escaped or not, is published in no text: it becomes a blank. An escaped backslash before `u0000` is no NUL. */
const blankNuls = (text: string) => text.replaceAll("\0", " ").replace(/(?<!\\)((?:\\\\)*)\\u0000/g, "$1 ")

const checkLine = (bytes: Buffer): CheckedLine => {
  const reject = (problem: string) => ({ problem, kept: bytes, odd: [], rejected: [] })
  let text: string
  try {
    text = strictDecoder.decode(bytes)
  } catch {
    return reject("the record is not valid UTF-8") // the decoder gives no details
  }
  const hasNul = text.includes("\0") || text.includes("\\u0000")
  if (hasNul) text = blankNuls(text)
  try {
    const findings = compareWithShape(
      /\\u[dD][89a-fA-F]/.test(text) ? JSON.parse(text, requireWellFormed) : JSON.parse(text)
    )
    if (findings.problem !== undefined) return reject(findings.problem)
    const key = findDuplicateKey(text)
    if (key !== undefined) return reject(`the record has a duplicate key ${JSON.stringify(key)}`)
    const { odd } = findings
    if (odd.length + findings.rejected.length === 0) {
      return { kept: hasNul ? Buffer.from(text) : bytes, odd, rejected: [] }
    }
    const separated = separateParts(text, findings)
    const rejected = findings.rejected.map(({ path: [part], reason }, index) => ({
      line: lineOf(bytes),
      part,
      reason,
      payload: shortenPayload(Buffer.from(separated.rejected[index] ?? ""))
    }))
    return { kept: Buffer.from(separated.kept), odd, rejected }
  } catch (error) {
    // the engine quotes the text around the error, which the payload already contains
    const reason = error instanceof Error ? error.message.replace(/, (\.\.\.)?".*$/s, "") : String(error)
    return reject(`the record is not JSON: ${reason}`)
  }
}

/** Rejects per batch: even a chunk without any good line is reported in batches. */
const maxRejects = 1000

type CountOdd = (part: OddPart) => void

const isNothing = ({ value }: OddPart) => typeof value === "string" && isPlaceholder(value)

async function* checkFile(
  file: string,
  release: string,
  countOdd: CountOdd
): AsyncGenerator<ReadonlyArray<FoodReject>, void, undefined> {
  const target = `${file}.good`
  const good = await open(target, "w")
  const writer = makeBufferedWriter(good)
  let rejects: Array<FoodReject> = []
  let areAllUnchanged = true
  try {
    for await (const line of readLines(file)) {
      const { kept, odd, problem: reason, rejected } = checkLine(line)
      if (reason !== undefined && hasTwoRecords(line, 0, line.length)) {
        throw new FoodListUnusable({ file: release, line: lineOf(line), ...otherLayout })
      }
      if (reason !== undefined || kept !== line) areAllUnchanged = false
      if (reason === undefined) {
        for (const part of odd) if (!isNothing(part)) countOdd(part)
        await writer.write(kept)
        await writer.write(lineFeed)
        rejects.push(...rejected)
      } else rejects.push(makeReject(line, reason))
      if (rejects.length < maxRejects) continue
      yield rejects
      rejects = []
    }
    await writer.flush()
  } finally {
    await good.close()
  }
  if (areAllUnchanged) return await rm(target)
  await rename(target, file)
  yield rejects
}

/**
 * Removes from the chunk's file each line that is not strict UTF-8, not JSON of the expected shape, or has a duplicate
 * key, and passes the rejects to `report`. Removes from the other lines each optional part of another shape, and passes
 * it to `countOdd` unless it is a placeholder. Each NUL becomes a blank. Fails if a line has two records; `release` names
 * the file that the chunk is from.
 */
export const checkLines = <E, R>(
  file: string,
  release: string,
  report: (rejects: ReadonlyArray<FoodReject>) => Effect.Effect<void, E, R>,
  countOdd: CountOdd
) =>
  Stream.fromAsyncIterable(checkFile(file, release, countOdd), (cause) =>
    cause instanceof FoodListUnusable ? cause : new FileUnwritable({ file: basename(file), cause })
  ).pipe(Stream.runForEach(report))

/** Lines per batch: usually 200 kB, never more than the chunk. */
const batchLines = 32

/** DuckDB's message without the name of the chunk, the line in it, and the line number that the splitter added. */
const describeReason = (error: DuckDbError) => {
  const message = firstLineOf(error)
    .replace(/^[\w ]+ Error: /, "")
    .replace(/^JSON transform error in file ".*", in line \d+: /s, "")
    .replace(/ in file ".*", at byte \d+ in line \d+/s, "")
    .replace(/\{"line":\d+,/, "{")
  return `DuckDB cannot read the record: ${message.slice(0, 300)}`
}

const joinLines = (lines: ReadonlyArray<Buffer>) => Buffer.concat(lines.flatMap((line) => [line, lineFeed]))

/**
 * Removes from the chunk's file the records that DuckDB cannot read although they are JSON of the expected shape, and
 * returns them as rejects. DuckDB's messages do not identify the line reliably, so it reads the chunk again in small
 * batches, and the lines of a failing batch one by one, about 20 ms each: one such record takes about 20 s in a full
 * chunk. No such record is known.
 */
export const removeUnreadableLines = Effect.fnUntraced(function* (db: DuckDb["Service"], file: string) {
  const batch = `${file}.batch`
  const target = `${file}.good`
  const makeUnwritable = (cause: unknown) => new FileUnwritable({ file: basename(file), cause })
  const attempt = (run: () => Promise<void>) => Effect.tryPromise({ try: run, catch: makeUnwritable })
  const rejects: Array<FoodReject> = []
  const findError = (lines: ReadonlyArray<Buffer>) =>
    attempt(() => writeFile(batch, joinLines(lines))).pipe(
      Effect.andThen(db.run(readChunkSql(batch))),
      Effect.as(undefined),
      Effect.catchTag("DuckDbError", (error) => (isRecordError(error) ? Effect.succeed(error) : Effect.fail(error)))
    )
  yield* attempt(() => writeFile(target, ""))
  yield* Stream.fromAsyncIterable(readLines(file), makeUnwritable).pipe(
    Stream.grouped(batchLines),
    Stream.runForEach((lines) =>
      Effect.gen(function* () {
        const isReadable = (yield* findError(lines)) === undefined
        const good: Array<Buffer> = isReadable ? [...lines] : []
        if (!isReadable) {
          for (const line of lines) {
            const error = yield* findError([line])
            if (error === undefined) good.push(line)
            else rejects.push(makeReject(line, describeReason(error)))
          }
        }
        yield* attempt(() => appendFile(target, joinLines(good)))
      })
    )
  )
  yield* attempt(() => rm(batch, { force: true }))
  yield* attempt(() => rename(target, file))
  return rejects
})

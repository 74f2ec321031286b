/**
 * Splits the JSON release into newline-delimited files, one record per line with its original line number, while the
 * zip is inflated and earlier files are loaded. At most four are on disk: one in use, two waiting and one being written.
 */
import { open, rm } from "node:fs/promises"
import { basename, join } from "node:path"
import { Effect, Stream } from "effect"
import { FileUnwritable, writeAll } from "../../../run/files/write-all.ts"
import { ZipUnusable } from "../../source/zip-members.ts"
import { FoodListUnusable, type FoodReject } from "./food-list.ts"
import { makeFoodSplitter } from "./food-splitter.ts"

export interface FoodList {
  readonly name: string
  /** A piece is valid until the next one is requested. */
  readonly bytes: AsyncIterable<Buffer>
}

export interface Chunk {
  /** Deleted after `use` has finished. Empty if all of its records were rejected. */
  readonly file: string
  readonly records: number
  readonly rejects: ReadonlyArray<FoodReject>
}

interface ChunkOptions {
  /** An existing folder that belongs to the run. */
  readonly folder: string
  /** The usual size. */
  readonly chunkBytes?: number
  /** A longer record is rejected unread. */
  readonly maxRecordBytes?: number
}

const writeBytes = 4 << 20

/**
 * The first chunk has an eighth of the usual size, and each of the next three twice as much as the one before: loading begins
 * early, and takes about as long as writing the next chunk.
 */
const sizeOf = (chunkNumber: number, chunkBytes: number) => chunkBytes * Math.min(1, 2 ** (chunkNumber - 4))

/** Rejects per chunk: even a file without any good record is reported in parts. */
const maxRejects = 1000

async function* splitChunks(list: FoodList, options: ChunkOptions, files: Set<string>) {
  const { folder, chunkBytes = 64 << 20, maxRecordBytes } = options
  const { output, end, push } = makeFoodSplitter(list.name, maxRecordBytes)
  const begin = async (number: number) => {
    const file = join(folder, `foods-${String(number).padStart(5, "0")}.ndjson`)
    files.add(file)
    return { number, file, bytes: 0, recordsBefore: output.recordCount(), handle: await open(file, "wx") }
  }
  let chunk = await begin(1)
  const flush = async () => {
    await writeAll(chunk.handle, output.lines())
    chunk.bytes += output.lineBytes()
    output.removeLines()
  }
  const finish = async (): Promise<Chunk> => {
    await flush()
    await chunk.handle.close()
    return { file: chunk.file, records: output.recordCount() - chunk.recordsBefore, rejects: output.takeRejects() }
  }
  try {
    for await (const piece of list.bytes) {
      push(piece)
      if (output.lineBytes() >= writeBytes) await flush()
      const isFull = chunk.bytes + output.lineBytes() >= sizeOf(chunk.number, chunkBytes)
      if (!isFull && output.rejectCount() < maxRejects) continue
      yield await finish()
      chunk = await begin(chunk.number + 1)
    }
    end()
    yield await finish()
  } finally {
    await chunk.handle.close() // closing it twice does no harm
  }
}

const asError = (cause: unknown, file: string) =>
  cause instanceof FoodListUnusable || cause instanceof ZipUnusable
    ? cause
    : new FileUnwritable({ file: `a chunk of ${file}`, cause })

/** Passes each chunk to `use`. May fail later if the list is damaged: do not trust the data until this succeeds. */
export const splitFoods = Effect.fn("Foods.split")(function* <E, R>(
  list: FoodList,
  options: ChunkOptions,
  use: (chunk: Chunk) => Effect.Effect<void, E, R>
) {
  const files = new Set<string>()
  const remove = (file: string) =>
    Effect.tryPromise({
      try: () => rm(file, { force: true }).then(() => files.delete(file)),
      catch: (cause) => new FileUnwritable({ file: basename(file), cause })
    })
  const counts = { records: 0, rejects: 0 }
  yield* Stream.fromAsyncIterable(splitChunks(list, options, files), (cause) => asError(cause, list.name)).pipe(
    Stream.buffer({ capacity: 1 }), // one more chunk waits for a place in the buffer
    Stream.runForEach((chunk) => {
      counts.records += chunk.records
      counts.rejects += chunk.rejects.length
      return Effect.andThen(use(chunk), remove(chunk.file))
    }),
    // a failure does no harm: the run removes the folder
    Effect.ensuring(Effect.ignore(Effect.suspend(() => Effect.forEach([...files], remove))))
  )
  return counts
})

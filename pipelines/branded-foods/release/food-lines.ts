/**
 * The JSON release as files that DuckDB reads: newline-delimited, of a size that the caller chooses, one record per line with the
 * number of its line in the release, `{"line":123,"foodClass":…}`. They are cut while the zip is inflated and loaded while the
 * next ones are cut. At most two that nobody has read yet are on disk.
 */
import { open, rm } from "node:fs/promises"
import { basename, join } from "node:path"
import { Effect, Stream } from "effect"
import { FileUnwritable, writeAll } from "../../run/write-all.ts"
import { makeCutter } from "./food-cutter.ts"
import { FoodListUnusable, type FoodReject } from "./food-list.ts"
import { ZipUnusable } from "./zip-members.ts"

export interface FoodList {
  /** What errors call it: the zip's member, or the file. */
  readonly name: string
  readonly bytes: AsyncIterable<Buffer>
}

export interface Chunk {
  /** Gone when `use` is done with it. May be empty where all records of it were rejected. */
  readonly file: string
  readonly records: number
  readonly rejects: ReadonlyArray<FoodReject>
}

export interface ChunkOptions {
  /** A folder of the run's own, there already. */
  readonly folder: string
  readonly chunkBytes?: number
  /** A longer record is rejected unread. */
  readonly longest?: number
}

/** So much is written at once. */
const writeBytes = 4 << 20

/** A file that is all rejects is told of in parts, too. */
const mostRejects = 1000

async function* chunksOf(list: FoodList, options: ChunkOptions, made: Set<string>) {
  const { folder, chunkBytes = 64 << 20, longest } = options
  const { cut, end, push } = makeCutter(list.name, longest)
  const begin = async (number: number) => {
    const file = join(folder, `foods-${String(number).padStart(5, "0")}.ndjson`)
    made.add(file)
    return { number, file, bytes: 0, recordsBefore: cut.records(), to: await open(file, "wx") }
  }
  let chunk = await begin(1)
  const flush = async () => {
    await writeAll(chunk.to, cut.lines())
    chunk.bytes += cut.waiting()
    cut.taken()
  }
  const finish = async (): Promise<Chunk> => {
    await flush()
    await chunk.to.close()
    return { file: chunk.file, records: cut.records() - chunk.recordsBefore, rejects: cut.takeRejects() }
  }
  try {
    for await (const piece of list.bytes) {
      push(piece)
      if (cut.waiting() >= writeBytes) await flush()
      if (chunk.bytes + cut.waiting() < chunkBytes && cut.rejectsWaiting() < mostRejects) continue
      yield await finish()
      chunk = await begin(chunk.number + 1)
    }
    end()
    yield await finish()
  } finally {
    await chunk.to.close() // a second time does no harm
  }
}

const asError = (cause: unknown, file: string) =>
  cause instanceof FoodListUnusable || cause instanceof ZipUnusable
    ? cause
    : new FileUnwritable({ file: `a chunk of ${file}`, cause })

/**
 * Cuts the list and hands each chunk to `use`, one after the other. A list that turns out to be cut off or damaged fails after
 * the chunks before that place were used: keep them apart until this succeeds.
 */
export const cutFoods = Effect.fn("Foods.cut")(function* <E, R>(
  list: FoodList,
  options: ChunkOptions,
  use: (chunk: Chunk) => Effect.Effect<void, E, R>
) {
  const made = new Set<string>()
  const remove = (file: string) =>
    Effect.tryPromise({
      try: () => rm(file, { force: true }).then(() => made.delete(file)),
      catch: (cause) => new FileUnwritable({ file: basename(file), cause })
    })
  const counts = { records: 0, rejects: 0 }
  yield* Stream.fromAsyncIterable(chunksOf(list, options, made), (cause) => asError(cause, list.name)).pipe(
    Stream.buffer({ capacity: 1 }), // and one that waits for its place
    Stream.runForEach((chunk) => {
      counts.records += chunk.records
      counts.rejects += chunk.rejects.length
      return Effect.andThen(use(chunk), remove(chunk.file))
    }),
    Effect.ensuring(Effect.ignore(Effect.suspend(() => Effect.forEach([...made], remove)))) // their folder goes with the run
  )
  return counts
})

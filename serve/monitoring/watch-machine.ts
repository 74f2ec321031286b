/** Samples what the process and the disk use. Nothing here is measured during a request. */
import { readdir, readFile, stat, statfs } from "node:fs/promises"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import type { Layout } from "@larder/warehouse"
import { Duration, Effect, Schedule } from "effect"

/** The largest delay of the event loop, and the number of descriptors, are those of the last ten seconds. */
const sampleInterval = Duration.seconds(10)
/** Folders may have ten thousands of files: reading their sizes takes about a second of CPU in threads. */
const folderInterval = Duration.minutes(10)
const filesAtOnce = 64

/** Milliseconds between the timers of the histogram, which it includes in each delay. */
const resolution = 20

export interface MachineState {
  /** In seconds: of 99 % of the timers, and of the latest one. */
  readonly delay: { readonly p99: number; readonly max: number }
  /** Null where the system does not tell, as on macOS and Windows. `max` is undefined if there is no limit. */
  readonly descriptors: { readonly open: number; readonly max: number | undefined } | null
  /** Bytes of the file system of LARDER_HOME; `free` is what this user can still write. */
  readonly disk: { readonly size: number; readonly free: number } | null
  /** Bytes of the files of `raw` and `warehouse`. Null until they were measured. */
  readonly folders: { readonly raw: number; readonly warehouse: number } | null
}

const readDelay = (histogram: ReturnType<typeof monitorEventLoopDelay>) => {
  const toSeconds = (nanos: number) => Math.max(0, nanos / 1e9 - resolution / 1000)
  const isEmpty = histogram.count === 0
  const delay = { p99: toSeconds(histogram.percentile(99)), max: toSeconds(histogram.max) }
  histogram.reset()
  return isEmpty ? { p99: 0, max: 0 } : delay
}

const parseLimit = (limits: string) => {
  const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? []
  return soft === undefined ? undefined : Number(soft)
}

const readDescriptors = async () => {
  try {
    const [open, limits] = await Promise.all([readdir("/proc/self/fd"), readFile("/proc/self/limits", "utf8")])
    return { open: open.length, max: parseLimit(limits) }
  } catch {
    return null // only Linux has these
  }
}

const readDisk = async (folder: string) => {
  try {
    const { bavail, blocks, bsize } = await statfs(folder)
    return { size: blocks * bsize, free: bavail * bsize }
  } catch {
    return null
  }
}

/** Bytes of all files below a folder; a hard link counts once. Files that vanish meanwhile count nothing. */
const measureFolder = async (folder: string) => {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const sizes = new Map<number, number>()
  for (let first = 0; first < names.length; first += filesAtOnce) {
    const batch = names.slice(first, first + filesAtOnce)
    const found = await Promise.all(batch.map((name) => stat(join(folder, name)).catch(() => undefined)))
    for (const file of found) if (file?.isFile()) sizes.set(file.ino, file.size)
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0)
}

/** Samples until the scope ends. */
export const watchMachine = Effect.fn("watchMachine")(function* ({ dir, home }: Layout) {
  const histogram = monitorEventLoopDelay({ resolution })
  yield* Effect.acquireRelease(
    Effect.sync(() => histogram.enable()),
    () => Effect.sync(() => histogram.disable())
  )
  let state: MachineState = { delay: { p99: 0, max: 0 }, descriptors: null, disk: null, folders: null }
  const sample = Effect.promise(async () => {
    const [descriptors, disk] = await Promise.all([readDescriptors(), readDisk(home)])
    state = { ...state, delay: readDelay(histogram), descriptors, disk }
  })
  const measure = Effect.promise(async () => {
    state = { ...state, folders: { raw: await measureFolder(join(home, "raw")), warehouse: await measureFolder(dir) } }
  })
  yield* sample
  yield* Effect.forkScoped(Effect.repeat(sample, Schedule.spaced(sampleInterval)))
  yield* Effect.forkScoped(Effect.repeat(measure, Schedule.spaced(folderInterval)))
  return { current: () => state }
})

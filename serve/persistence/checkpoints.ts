/**
 * Keeps the write-ahead log of a SQLite file short. A thread checkpoints it while the main thread keeps writing. If the
 * log is long, the main thread then copies the few newer pages, and the next commit resets the log. A reset
 * log keeps its length, so a flush records no new length: a single commit takes 0.12 ms instead of 0.21.
 */
import { longLogPages, type Sqlite } from "./sqlite.ts"
import type { Thread } from "./thread.ts"

const checkInterval = 1_000
/** Limit of pages that the main thread copies itself: about 10 ms of work. */
const maxPages = 1_000

/** Copies all pages of the log that no reader still needs there. Does not wait for readers or writers. */
export const checkpoint = (sqlite: Sqlite) => {
  const [row] = sqlite.all("pragma main.wal_checkpoint(passive)")
  return { pages: Number(row?.log), copied: Number(row?.checkpointed) }
}

/** Changes with each commit, including commits of a thread. */
const readState = (sqlite: Sqlite): string =>
  `${sqlite.commits()} ${sqlite.all("pragma data_version")[0]?.data_version}`

/** `onFailure` receives the error of a full or missing disk: commits still work while the log can grow. */
export const keepLogShort = (sqlite: Sqlite, thread: Thread, onFailure: (error: unknown) => void) => {
  let lastState = readState(sqlite)
  let running: Promise<void> = Promise.resolve()
  const checkpointIfChanged = async () => {
    try {
      const state = readState(sqlite)
      if (state === lastState) return
      lastState = state
      const { copied, pages } = await thread.run(import.meta.url, checkpoint)
      if (pages >= longLogPages && pages - copied <= maxPages) checkpoint(sqlite)
    } catch (error) {
      onFailure(error)
    }
  }
  const timer = setInterval(() => {
    running = running.then(checkpointIfChanged)
  }, checkInterval).unref()
  return {
    close: async (): Promise<void> => {
      clearInterval(timer)
      await running
    }
  }
}

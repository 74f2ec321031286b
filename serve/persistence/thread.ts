/**
 * A thread with its own connection to a SQLite file, for work that would block requests. It runs exported functions
 * `(sqlite, …arguments) => result` one after the other, and starts when it is first used. Its writes to the file itself
 * reach the disk with the next commit of the main thread.
 */
import { once } from "node:events"
import type { Worker } from "node:worker_threads"
import { startThread } from "@larder/warehouse/cli"
import type { Sqlite } from "./sqlite.ts"

/** What a thread opens; see `SqliteOptions`. */
export interface Files {
  readonly file: string
  readonly sums?: string | undefined
}

/** Arguments and results are copied between threads. */
type Work<Arguments extends ReadonlyArray<unknown>, Result> = (sqlite: Sqlite, ...args: Arguments) => Result

export interface Thread {
  /** `work` is exported by `module`, the URL of the file that defines it. */
  readonly run: <Arguments extends ReadonlyArray<unknown>, Result>(
    module: string,
    work: Work<Arguments, Result>,
    ...args: Arguments
  ) => Promise<Awaited<Result>>
  readonly close: () => Promise<void>
}

export interface ThreadTask {
  readonly id: number
  readonly module: string
  readonly name: string
  readonly args: ReadonlyArray<unknown>
}
export type TaskResult = { readonly id: number } & (
  | { readonly result: unknown }
  | { readonly error: { readonly message: string; readonly code: unknown } }
)

const closedMessage = "the thread was closed"

export const makeThread = (files: Files): Thread => {
  let worker: Worker | undefined
  let isClosed = false
  let lastId = 0
  const pending = new Map<number, PromiseWithResolvers<unknown>>()

  /** A failed worker exits later, when another one may already have replaced it. */
  const failAll = (failed: Worker, error: unknown) => {
    if (worker !== failed) return
    worker = undefined
    for (const { reject } of pending.values()) reject(error)
    pending.clear()
  }
  const start = (): Worker => {
    const started = startThread(new URL("./thread-main.ts", import.meta.url), files)
    started.on("message", (message: TaskResult) => {
      const task = pending.get(message.id)
      pending.delete(message.id)
      if (pending.size === 0 && !isClosed) started.unref() // lets the process end if it waits for nothing else
      if ("result" in message) task?.resolve(message.result)
      else task?.reject(Object.assign(new Error(message.error.message), { code: message.error.code }))
    })
    started.on("error", (error) => failAll(started, error))
    started.on("exit", () => failAll(started, new Error(closedMessage)))
    return started
  }

  return {
    run: (module, work, ...args) => {
      if (isClosed) return Promise.reject(new Error(closedMessage))
      worker ??= start()
      worker.ref()
      const result = Promise.withResolvers<unknown>()
      const task: ThreadTask = { id: ++lastId, module, name: work.name, args }
      pending.set(task.id, result)
      worker.postMessage(task)
      return result.promise as Promise<never> // the copied result of `work`
    },
    close: async () => {
      isClosed = true
      const running = worker
      if (running === undefined) return
      running.ref()
      const exited = once(running, "exit")
      running.postMessage("close")
      await exited
    }
  }
}

export const runInOwnThread = async <Arguments extends ReadonlyArray<unknown>, Result>(
  files: Files,
  module: string,
  work: Work<Arguments, Result>,
  ...args: Arguments
): Promise<Awaited<Result>> => {
  const thread = makeThread(files)
  try {
    return await thread.run(module, work, ...args)
  } finally {
    await thread.close()
  }
}

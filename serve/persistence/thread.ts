/**
 * A thread with its own connection to a SQLite file, for work that would block requests. It runs exported functions
 * `(sqlite, …arguments) => answer` one after the other, and starts with the first call. Its writes to the file itself
 * reach the disk with the next commit of the main thread.
 */
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import type { Sqlite } from "./sqlite.ts"

/** What a thread opens; see `SqliteOptions`. */
export interface Files {
  readonly file: string
  readonly sums?: string | undefined
}

/** Arguments and answers are copied between threads. */
type Work<Arguments extends ReadonlyArray<unknown>, Answer> = (sqlite: Sqlite, ...args: Arguments) => Answer

export interface Thread {
  /** `work` is exported by `module`, the URL of the file that defines it. */
  readonly run: <Arguments extends ReadonlyArray<unknown>, Answer>(
    module: string,
    work: Work<Arguments, Answer>,
    ...args: Arguments
  ) => Promise<Awaited<Answer>>
  readonly close: () => Promise<void>
}

export interface ThreadTask {
  readonly id: number
  readonly module: string
  readonly name: string
  readonly args: ReadonlyArray<unknown>
}
export type TaskAnswer = { readonly id: number } & (
  | { readonly answer: unknown }
  | { readonly error: { readonly message: string; readonly code: unknown } }
)

const closedMessage = "the thread that reads the file was closed"

export const makeThread = (files: Files): Thread => {
  let worker: Worker | undefined
  let isClosed = false
  let last = 0
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()

  /** A failed worker exits later, when another one may already have replaced it. */
  const failAll = (failed: Worker, error: unknown) => {
    if (worker !== failed) return
    worker = undefined
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  const start = (): Worker => {
    const started = new Worker(new URL("./thread-main.ts", import.meta.url), { workerData: files })
    started.on("message", (message: TaskAnswer) => {
      const task = waiting.get(message.id)
      waiting.delete(message.id)
      if (waiting.size === 0 && !isClosed) started.unref() // lets the process end if it waits for nothing else
      if ("answer" in message) task?.resolve(message.answer)
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
      const answer = Promise.withResolvers<unknown>()
      const task: ThreadTask = { id: ++last, module, name: work.name, args }
      waiting.set(task.id, answer)
      worker.postMessage(task)
      return answer.promise as Promise<never> // what `work` answers, copied
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

export const inOwnThread = async <Arguments extends ReadonlyArray<unknown>, Answer>(
  files: Files,
  module: string,
  work: Work<Arguments, Answer>,
  ...args: Arguments
): Promise<Awaited<Answer>> => {
  const thread = makeThread(files)
  try {
    return await thread.run(module, work, ...args)
  } finally {
    await thread.close()
  }
}

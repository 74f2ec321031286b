/** The code that runs in a thread of `thread.ts`. */
import { parentPort, workerData } from "node:worker_threads"
import { openSqlite } from "./sqlite.ts"
import type { Files, TaskResult, ThreadTask } from "./thread.ts"

const { file, sums } = workerData as Files // from `thread.ts`
const sqlite = openSqlite(file, { durability: "normal", sums })
const respond = (message: TaskResult) => parentPort?.postMessage(message)

const run = async ({ args, id, module, name }: ThreadTask): Promise<void> => {
  try {
    const exported: Readonly<Record<string, (...args: ReadonlyArray<unknown>) => unknown>> = await import(module)
    const work = exported[name]
    if (work === undefined) throw new Error(`${module} exports no ${name}`)
    respond({ id, result: await work(sqlite, ...args) })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    respond({ id, error: { message, code: error instanceof Error && "code" in error ? error.code : undefined } })
  }
}

let done: Promise<void> = Promise.resolve()
parentPort?.on("message", (message: ThreadTask | "close") => {
  done = done.then(async () => {
    if (message !== "close") return run(message)
    sqlite.close()
    parentPort?.close()
  })
})

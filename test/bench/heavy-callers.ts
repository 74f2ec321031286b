/** Callers of large answers, in a thread of their own, so that who measures beside them is not slowed by their reading. */
import { parentPort, workerData } from "node:worker_threads"
import { type Load, load } from "./load.ts"

export interface HeavyCallers extends Omit<Load, "key"> {
  readonly keys: ReadonlyArray<string>
}

const { keys, ...rest } = workerData as HeavyCallers
parentPort?.postMessage(await Promise.all(keys.map((key) => load({ ...rest, key }))))

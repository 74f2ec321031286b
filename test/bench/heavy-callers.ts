/** Requests large responses, in a separate thread, so that reading them does not slow down the measurement. */
import { parentPort, workerData } from "node:worker_threads"
import { type Load, load } from "./load.ts"

export interface HeavyCallers extends Omit<Load, "key"> {
  readonly keys: ReadonlyArray<string>
}

const { keys, ...rest } = workerData as HeavyCallers
parentPort?.postMessage(await Promise.all(keys.map((key) => load({ ...rest, key }))))

/** A thread that writes a part of the files of branded foods, and ends. */
import { workerData } from "node:worker_threads"
import { type Indexing, indexFiles } from "./index-files.ts"

export interface Task {
  readonly indexing: Indexing
  /** Shared memory: not 0 once the lines of the records are written. */
  readonly recordsWritten: Int32Array<SharedArrayBuffer>
}

const { indexing, recordsWritten } = workerData as Task // from `build.ts`, which is of the same version
indexFiles(indexing, () => {
  Atomics.wait(recordsWritten, 0, 0)
})

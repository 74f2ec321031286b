/** A worker thread that writes some of the files of branded foods, then ends. */
import { workerData } from "node:worker_threads"
import { type Indexing, indexFiles } from "./index-files.ts"

export interface IndexingTask {
  readonly indexing: Indexing
  /** Shared memory: nonzero once the lines of the records are written. */
  readonly recordsWritten: Int32Array<SharedArrayBuffer>
}

const { indexing, recordsWritten } = workerData as IndexingTask // from `build.ts`
indexFiles(indexing, () => {
  Atomics.wait(recordsWritten, 0, 0)
})

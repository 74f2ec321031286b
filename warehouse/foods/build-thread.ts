/** A thread that writes a part of the files of branded foods, and ends. */
import { workerData } from "node:worker_threads"
import { Schema } from "effect"
import { buildText } from "./build-text.ts"
import { indexLabels } from "./labels.ts"
import { indexRecords } from "./records.ts"

const SharedFlag = Schema.declare(
  (value): value is Int32Array<SharedArrayBuffer> =>
    value instanceof Int32Array && value.buffer instanceof SharedArrayBuffer
)

const Task = Schema.Struct({
  folder: Schema.String,
  documents: Schema.Int,
  columns: Schema.Array(Schema.Struct({ source: Schema.String, column: Schema.String })),
  /** Only one thread has this: a thread of its own would cost a small publication more time than the work. */
  others: Schema.optional(
    Schema.Struct({
      labels: Schema.String,
      foods: Schema.Int,
      /** Shared memory: not 0 once the lines of the records are written. */
      recordsWritten: SharedFlag
    })
  )
})
export type Task = typeof Task.Type

const { columns, documents, folder, others } = Schema.decodeUnknownSync(Task)(workerData)
if (others !== undefined) indexLabels(others.labels, folder, documents)
for (const { column, source } of columns) buildText(source, folder, column, documents)
if (others !== undefined) {
  Atomics.wait(others.recordsWritten, 0, 0)
  indexRecords(folder, others.foods)
}

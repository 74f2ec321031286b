/** A thread that writes the search files of some text columns, and ends. */
import { workerData } from "node:worker_threads"
import { Schema } from "effect"
import { buildText } from "./build-text.ts"

const Task = Schema.Struct({
  folder: Schema.String,
  documents: Schema.Int,
  columns: Schema.Array(Schema.Struct({ source: Schema.String, column: Schema.String }))
})
export type Task = typeof Task.Type

const { columns, documents, folder } = Schema.decodeUnknownSync(Task)(workerData)
for (const { column, source } of columns) buildText(source, folder, column, documents)

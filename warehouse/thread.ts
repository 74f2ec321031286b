import { Worker } from "node:worker_threads"

/** Starts a thread that runs a TypeScript file. */
export const startThread = (file: URL, workerData: unknown): Worker =>
  new Worker(new URL("./bin/thread.mjs", import.meta.url), { argv: [file.href], workerData })

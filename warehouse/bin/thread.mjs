/** Runs the TypeScript file in the first argument, in a thread that `warehouse/thread.ts` starts. */
import "./node-messages.mjs"
import { enableCompileCache } from "./compile-cache.mjs"

enableCompileCache() // a thread of the ledger starts in 0.07 instead of 0.16 s of CPU, and has 25 MB less
await import(process.argv[2])

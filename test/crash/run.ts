/**
 * `npm run test:crash`: the tests of this folder, and those of payments, with many more kills, some half an hour.
 * `LARDER_CRASH_KILLS` says how often each kind of ledger is hit, `LARDER_CRASH_SEED` repeats a run.
 */
import { startVitest } from "vitest/node"

process.env.LARDER_CRASH_KILLS ??= "70"
await startVitest("test", ["test/crash/", "test/payments/kills"], { watch: false })

/**
 * `npm run test:crash`: the tests of this folder with many more kills, some fifteen minutes. `LARDER_CRASH_KILLS` says how often
 * each of the two kinds of ledger is hit, `LARDER_CRASH_SEED` repeats a run.
 */
import { startVitest } from "vitest/node"

process.env.LARDER_CRASH_KILLS ??= "70"
await startVitest("test", ["test/crash/"], { watch: false })

/**
 * `npm run test:histories`: the histories of this folder, many more of them; some fifteen minutes. `LARDER_TEST_RUNS` says
 * how many are run over each store, `LARDER_TEST_SEED` repeats them.
 */
import { startVitest } from "vitest/node"

process.env.LARDER_TEST_RUNS ??= "200"
await startVitest("test", ["test/ledger/histories/"], { watch: false })

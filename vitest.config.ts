import { readdirSync } from "node:fs"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { nodeFlags } from "./test/support/node-flags.ts"

// Many test files start programs: what one has compiled, the next ones load.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/larder-tests", import.meta.url))

/** The slowest suites first: a long file that begins last would be waited for by an idle core. */
const slowest = [
  "/test/ci/",
  "/test/lake/",
  "/test/generated-clients/",
  "/test/crash/",
  "/test/console-database/",
  "/test/payments/",
  "/test/cli/",
  "/test/"
]
const rankOf = ({ moduleId }: TestSpecification) => {
  const rank = slowest.findIndex((folder) => moduleId.includes(folder))
  return rank === -1 ? slowest.length : rank
}
class SlowestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}

const globalSetup = "test/support/set-up.ts"

/** Suites that `npm test` runs, beside the unit tests. */
const surface = ["contract", "client", "console", "house"]
/** Files that run a second time, with the ledger in PostgreSQL. */
const overPostgres = ["contract/authentication", "contract/billing", "console/isolation", "console/keys"]

/** Suites that are run by hand: soaks, long crash and race runs. */
const long = ["long"]

const others = readdirSync(new URL("test", import.meta.url)).filter((name) => ![...surface, ...long].includes(name))

const inSuites = (suites: ReadonlyArray<string>) => suites.map((suite) => `test/${suite}/**/*.test.ts`)
const named = (files: ReadonlyArray<string>) => files.map((file) => `test/${file}.test.ts`)

export default defineConfig({
  test: {
    // Most tests run real processes on real files: a slow machine is no failure, a hanging test is.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } }, // a second, where nothing is said
    maxWorkers: Math.max(5, availableParallelism()), // on two cores five: tests also wait for processes and disks
    execArgv: nodeFlags,
    experimental: { viteModuleRunner: false }, // Node itself loads the files, as it does for the programs: less work
    isolate: false, // no file leaves anything behind in its process, and a new process for each takes a tenth of the time
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        extends: true,
        test: { name: "unit", include: ["{schemas,warehouse,pipelines,serve}/**/*.test.ts"] }
      },
      {
        extends: true,
        test: {
          name: "surface",
          include: inSuites(surface),
          provide: { ledger: "in its folder" },
          globalSetup
        }
      },
      {
        extends: true,
        test: {
          name: "all",
          include: [...inSuites(others), ...named(overPostgres)],
          provide: { ledger: "in PostgreSQL" },
          globalSetup
        }
      },
      {
        extends: true,
        test: {
          name: "long",
          include: inSuites(long),
          testTimeout: 3_600_000,
          hookTimeout: 3_600_000, // some build a program first
          provide: { ledger: "in PostgreSQL" },
          globalSetup
        }
      }
    ]
  }
})

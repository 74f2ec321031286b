import { readdirSync } from "node:fs"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { configDefaults, defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { nodeFlags } from "./test/support/node-flags.ts"

// Many test files start programs, which share a cache of compiled code.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/larder-tests", import.meta.url))

/** Unit tests that take half a minute each: `npm test` stays below four minutes without them. */
const slowUnits = [
  "warehouse/lake/lake-*",
  "pipelines/run/archive/prune",
  "warehouse/generation/pull",
  "pipelines/run/archive/storing-kills"
].map((file) => `${file}.test.ts`)

/** The slowest files start first: a long file that starts last would keep one core busy while the others are idle. */
const slowest = [
  "/test/ci/",
  "/test/lake/",
  "/test/generated-clients/",
  "/test/crash/",
  "/test/bench/",
  ...["mapping-versions", "food-cases", "rebuild", "price-cases"].map((file) => `/test/end-to-end/${file}.`),
  ...slowUnits.map((file) => `/${file.replace(/\*?\.test\.ts$/, "")}`),
  "/test/console-database/",
  "/test/payments/",
  "/test/end-to-end/",
  "/test/cli/",
  "/test/"
]
const getRank = ({ moduleId }: TestSpecification) => {
  const rank = slowest.findIndex((folder) => moduleId.includes(folder))
  return rank === -1 ? slowest.length : rank
}
class SlowestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    return (await super.sort(files)).toSorted((a, b) => getRank(a) - getRank(b))
  }
}

const globalSetup = "test/support/set-up.ts"

/** Suites that `npm test` runs in addition to the unit tests. */
const surface = ["contract", "client", "console", "house"]
/** Files that run a second time, with the ledger in PostgreSQL. */
const overPostgres = ["contract/authentication", "contract/billing", "console/isolation", "console/keys"]

/** Suites that people start by hand: soak tests, and long crash and race tests. */
const long = ["long"]

const otherSuites = readdirSync(new URL("test", import.meta.url)).filter(
  (name) => ![...surface, ...long].includes(name)
)

/**
 * DuckDB takes this for the number of cores, and runs queries on one thread. Several workers share the cores anyway, and
 * threads that wait for each other take a tenth of the CPU. The bundled samples are loaded on all cores all the same, and
 * `npm run test:long` runs on all cores.
 */
const env = { SLURM_CPUS_ON_NODE: "1" }

const matchSuites = (suites: ReadonlyArray<string>) => suites.map((suite) => `test/${suite}/**/*.test.ts`)
const matchFiles = (files: ReadonlyArray<string>) => files.map((file) => `test/${file}.test.ts`)

export default defineConfig({
  test: {
    // Most tests run real processes on real files. The limits only stop hanging tests, even on slow machines.
    testTimeout: 120_000,
    hookTimeout: 240_000, // some run a program several times
    expect: { poll: { timeout: 60_000 } }, // one second by default
    maxWorkers: Math.max(5, availableParallelism()), // at least five: tests also wait for processes and disks
    execArgv: nodeFlags,
    setupFiles: "test/support/quiet-log.ts",
    experimental: { viteModuleRunner: false }, // Node loads the files itself, as for the programs, which is faster
    isolate: false, // test files clean up after themselves; a new process for each would take a tenth of the total time
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          env,
          include: ["{schemas,warehouse,pipelines,serve}/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...slowUnits]
        }
      },
      {
        extends: true,
        test: {
          name: "surface",
          env,
          include: matchSuites(surface),
          provide: { ledger: "in its folder" },
          globalSetup
        }
      },
      {
        extends: true,
        test: {
          name: "all",
          env,
          include: [...matchSuites(otherSuites), ...matchFiles(overPostgres), ...slowUnits],
          provide: { ledger: "in PostgreSQL" },
          globalSetup
        }
      },
      {
        extends: true,
        test: {
          name: "long",
          include: matchSuites(long),
          testTimeout: 3_600_000,
          hookTimeout: 3_600_000, // some build a program first
          provide: { ledger: "in PostgreSQL" },
          globalSetup
        }
      }
    ]
  }
})

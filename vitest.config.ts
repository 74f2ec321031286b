import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

// Many test files start programs: what one has compiled, the next ones load.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/larder-tests", import.meta.url))

/** What runs programs comes first, so that the end is not spent waiting for one slow file: a minute of eighteen. */
class SlowFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const isFast = ({ moduleId }: TestSpecification) => Number(!moduleId.includes("/test/"))
    return (await super.sort(files)).toSorted((a, b) => isFast(a) - isFast(b))
  }
}

export default defineConfig({
  test: {
    include: ["{schemas,warehouse,pipelines,serve,test}/**/*.test.ts"],
    globalSetup: ["test/support/sample-home.ts", "test/support/postgres/shared.ts"],
    // Most tests run real processes on real files: a slow machine is no failure, a hanging test is.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } }, // a second, where nothing is said
    maxWorkers: 6, // two cores, and tests that wait for processes, disks and pacing
    isolate: false, // no file leaves anything behind in its process, and a new one for each costs three of thirty minutes
    sequence: { sequencer: SlowFirst }
  }
})

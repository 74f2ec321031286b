import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

// Each test file has a process of its own, and many start programs: what one has compiled, the next ones load.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("node_modules/.cache/larder-tests", import.meta.url))

export default defineConfig({
  test: {
    include: ["{schemas,warehouse,pipelines,serve,test}/**/*.test.ts"],
    globalSetup: ["test/sample-home.ts", "test/postgres/shared.ts"],
    // Most tests run real processes on real files: a slow machine is no failure, a hanging test is.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 4 // two cores, and tests that wait for processes, disks and pacing
  }
})

import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["{schemas,warehouse,pipelines,serve,test}/**/*.test.ts"],
    globalSetup: ["test/sample-home.ts", "test/postgres/shared.ts"],
    // Most tests run real processes on real files: a slow machine is no failure, a hanging test is.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 3 // two cores, and tests that wait for processes, disks and pacing
  }
})

/** Runs benchmarks in their smallest form. The ratios mean nothing, and are not checked: the benchmarks still run to their end. */
import { spawn } from "node:child_process"
import path from "node:path"
import { assert } from "@effect/vitest"
import { cleanEnvironment, waitForExit } from "../support/programs.ts"

/** Runs these parts, and expects that they print what docs/benchmarks.md compares. */
export const runQuickly = async (parts: ReadonlyArray<string>, results: ReadonlyArray<string>) => {
  const script = path.join(import.meta.dirname, "run.ts")
  const child = spawn(process.execPath, [script, ...parts, "--quick"], {
    env: cleanEnvironment({}),
    stdio: ["ignore", "pipe", "pipe"]
  })
  const { code, stderr, stdout } = await waitForExit(child)
  assert.strictEqual(code, 0, stderr)
  for (const result of results) assert.include(stdout, result)
}

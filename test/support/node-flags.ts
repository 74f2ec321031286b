/**
 * Flags of Node for tests and the commands that they run. Most code runs only a few times in a test: optimising it, and
 * frequent garbage collection, would take a fifth more CPU.
 */
export const nodeFlags = ["--no-opt", "--min-semi-space-size=32", "--max-semi-space-size=64"]

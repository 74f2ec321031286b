/** What both programs share. It does not load DuckDB, so that `--help` stays quick. */
export { exitCodeOf, expectedMessages, makeProgram, report, untilStopped } from "./program.ts"
export { visible, visibleInLine } from "./terminal.ts"

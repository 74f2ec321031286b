/** What both programs share. It does not load DuckDB, so that `--help` stays quick. */
export { makeFolders } from "../disk.ts"
export { startThread } from "../thread.ts"
export { makeConfigCommand } from "./config-command.ts"
export { exitCodeOf, expectedMessages, makeProgram, report, untilStopped } from "./program.ts"
export { StopSignal } from "./stop-signal.ts"
export { formatTable } from "./table.ts"
export { visible, visibleInLine } from "./terminal.ts"

/** What the main programs of both rooms are made of. It loads no DuckDB, so that help stays quick. */
export { exitCodeOf, expectedMessages, makeProgram, report } from "./program.ts"
export { visible, visibleInLine } from "./terminal.ts"

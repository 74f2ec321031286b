/**
 * Starts a TypeScript entry file on a Node that runs TypeScript. Plain JavaScript, because an older Node must read it: there
 * the npm package `node` brings the right one, and the program runs as its child. npm installs that package only where Node
 * is older than 24 (`older-node/package.json`): it is 189 MiB.
 *
 * DuckDB works on libuv's thread pool, four threads by default; four heavy queries would make every other query and file
 * access wait. The pool's size is read when it is first used, so it is set before anything else is imported.
 */
import { spawn } from "node:child_process"
import module, { createRequire } from "node:module"
import { fileURLToPath } from "node:url"

const oldestNode = 24
const threads = "16"
/** With the packages, whose owner runs this; a shared folder would let others plant code. */
const compileCache = fileURLToPath(new URL("../../node_modules/.cache/larder", import.meta.url))

/**
 * `program` is the address of the file in a room's `bin/`; the room's `cli.ts` has the program.
 *
 * @param {string} program
 */
export const launch = (program) => {
  process.env.UV_THREADPOOL_SIZE ??= threads
  module.enableCompileCache?.(compileCache) // a start takes 0.65 instead of 1.05 s of CPU
  // As a child it ends with its parent, also when that is killed.
  if (process.connected) {
    process.once("disconnect", () => process.kill(process.pid, "SIGTERM"))
    process.channel?.unref()
  }
  return Number(process.versions.node.split(".")[0]) >= oldestNode
    ? import(new URL("../cli.ts", program).href).then((cli) => cli.program.main())
    : inChild(program)
}

/** Undefined where `npm ci` ran with a Node that needed no other. */
const newerNode = () => {
  try {
    return createRequire(import.meta.url).resolve("node/bin/node")
  } catch {
    return undefined
  }
}

/** @param {string} program */
const inChild = (program) => {
  const node = newerNode()
  if (node === undefined) {
    console.error(
      `Node ${process.versions.node} is too old: Larder needs Node ${oldestNode}. Run npm ci with this Node, and it brings a newer one.`
    )
    process.exitCode = 1
    return
  }
  const child = spawn(node, [fileURLToPath(program), ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"]
  })
  // A terminal sends Ctrl-C to both; what is sent to this process alone is passed on.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal))
  child.on("error", (error) => {
    console.error(`${node} cannot be started: ${error.message}. Run npm ci again.`)
    process.exitCode = 1
  })
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGINT" || signal === "SIGTERM" ? 130 : 1)
  })
}

/**
 * Starts a TypeScript entry file on a Node that runs TypeScript. This file is plain JavaScript, because an older Node
 * must read it. On an older Node, the program runs as a child process on the Node of the npm package `node`. npm
 * installs that package of 189 MiB only if Node is older than 24 (`older-node/package.json`).
 *
 * DuckDB runs on libuv's thread pool, which has four threads by default: four heavy queries would make all other
 * queries and file accesses wait. The pool reads its size at its first use, so it is set before any other import.
 */
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { enableCompileCache } from "./compile-cache.mjs"
import { printError } from "./node-messages.mjs"
import { deliverSignals, startChild } from "./signals.mjs"

const oldestNode = 24
const threads = "16"

/**
 * `program` is the address of the file in a room's `bin/`; the room's `cli/program.ts` has the program.
 *
 * @param {string} program
 */
export const launch = (program) => {
  process.env.UV_THREADPOOL_SIZE ??= threads
  enableCompileCache() // a start takes 0.65 instead of 1.05 s of CPU
  return Number(process.versions.node.split(".")[0]) >= oldestNode ? runHere(program) : runInChild(program)
}

/** @param {string} program */
const runHere = async (program) => {
  const cli = await import(new URL("../cli/program.ts", program).href)
  cli.program.main()
  deliverSignals()
}

/** Undefined if `npm ci` ran with a Node that is new enough. */
const findNewerNode = () => {
  try {
    return createRequire(import.meta.url).resolve("node/bin/node")
  } catch {
    return undefined
  }
}

/** @param {string} program */
const runInChild = (program) => {
  const node = findNewerNode()
  if (node === undefined) {
    printError(
      `Node ${process.versions.node} is too old: Larder needs Node ${oldestNode}. Run npm ci with this Node: it installs a newer one.`
    )
    process.exitCode = 1
    return
  }
  const child = startChild(node, [fileURLToPath(program), ...process.argv.slice(2)])
  deliverSignals()
  child.on("error", (error) => {
    printError(`${node} cannot be started: ${error.message}. Run npm ci again.`)
    process.exitCode = 1
  })
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGINT" || signal === "SIGTERM" ? 130 : 1)
  })
}

/**
 * Starts the server, and restarts it when one of its sources changes: code, SQL, pages, styles, guides. If a change
 * breaks it, the error is shown and the next change starts it again. Node's own `--watch-path` would be shorter, but on
 * Linux it stops watching a file once git or an editor has replaced it. A watched folder has no such problem.
 */
import { readdirSync, watch } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { printError } from "../warehouse/bin/node-messages.mjs"
import { deliverSignals, startChild } from "../warehouse/bin/signals.mjs"

const repository = fileURLToPath(new URL("..", import.meta.url))
const program = path.join(repository, "serve/bin/larder-serve.mjs")
const rooms = ["schemas", "warehouse", "serve"]
const quietMilliseconds = 100 // switching branches changes many files at once

/** False for tests and for the temporary files of editors. */
const isSource = (name) => /^[^.].*\.(ts|mjs|js|json|sql|css|svg|html|md)$/.test(name) && !name.endsWith(".test.ts")

let server
let watchers = []
let timer
let isRestarting = false
let isStopping = false
/** Only the first server creates a demo key: another one would revoke the key in use. */
let hasDemo = false

const foldersIn = (room) => [
  room,
  ...readdirSync(path.join(repository, room), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.relative(repository, path.join(entry.parentPath, entry.name)))
]

const watchFolder = (folder) => {
  try {
    const watcher = watch(path.join(repository, folder), (_, name) => {
      if (name !== null && isSource(name)) restartSoon(path.join(folder, name))
    })
    return [watcher.on("error", () => {})] // on Windows, removing the folder is an error
  } catch (error) {
    if (error.code === "ENOENT") return [] // removed after it was listed
    throw error
  }
}

const serve = () => {
  for (const watcher of watchers) watcher.close()
  watchers = rooms.flatMap(foldersIn).flatMap(watchFolder) // at each start, because folders may be new or removed
  isRestarting = false
  server = startChild(process.execPath, [program, "start", ...(hasDemo ? [] : ["--demo"])])
  server.once("exit", (code) => {
    server = undefined
    if (isStopping) process.exit(code ?? 1)
    if (isRestarting)
      serve() // only now: the previous server locked the ledger until it exited
    else printError("The server stopped. It starts again at the next change.")
  })
}

const restart = (changed) => {
  printError(`${changed} changed`)
  if (server === undefined) return serve()
  isRestarting = true
  hasDemo = true
  server.kill()
}

const restartSoon = (changed) => {
  clearTimeout(timer)
  timer = setTimeout(restart, quietMilliseconds, changed)
}

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    isStopping = true
    if (server === undefined) process.exit(0)
  })
}

serve()
deliverSignals()

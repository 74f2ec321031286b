/**
 * Serves, and restarts the server when one of its sources changes: code, SQL, pages, styles, guides. If a change breaks it,
 * the error is shown and the next change starts it again. Node's own `--watch-path` would be shorter, but on Linux it loses
 * track of a file once git or an editor has replaced it; a watch on the folder does not.
 */
import { spawn } from "node:child_process"
import { readdirSync, watch } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

const repository = fileURLToPath(new URL("..", import.meta.url))
const program = path.join(repository, "serve/bin/larder-serve.mjs")
const rooms = ["schemas", "warehouse", "serve"]
const quietMilliseconds = 100 // switching branches changes many files at once

/** Neither tests nor the temporary files that editors write beside a source. */
const isSource = (name) => /^[^.].*\.(ts|mjs|js|json|sql|css|svg|html|md)$/.test(name) && !name.endsWith(".test.ts")

let server
let watchers = []
let timer
let isRestarting = false
let isStopping = false
/** Only the first server makes a demo key: a new one would revoke the one in use. */
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
    return [watcher.on("error", () => {})] // Windows reports a removed folder so; what was in it has changed anyway
  } catch (error) {
    if (error.code === "ENOENT") return [] // removed since it was listed
    throw error
  }
}

const serve = () => {
  for (const watcher of watchers) watcher.close()
  watchers = rooms.flatMap(foldersIn).flatMap(watchFolder) // at each start: folders come and go
  isRestarting = false
  const args = [program, "start", ...(hasDemo ? [] : ["--demo"])]
  // The channel lets the server see the end of this process, even when it is killed.
  server = spawn(process.execPath, args, { stdio: ["inherit", "inherit", "inherit", "ipc"] })
  server.once("exit", (code) => {
    server = undefined
    if (isStopping) process.exit(code ?? 1)
    if (isRestarting)
      serve() // only now: until it exits, a server holds the ledger
    else console.error("The server stopped. It starts again at the next change.")
  })
}

const restart = (changed) => {
  console.error(`\n${changed} changed`)
  if (server === undefined) return serve()
  isRestarting = true
  hasDemo = true
  server.kill()
}

const restartSoon = (changed) => {
  clearTimeout(timer)
  timer = setTimeout(restart, quietMilliseconds, changed)
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    isStopping = true
    if (server === undefined) process.exit(130)
    server.kill(signal)
  })
}

serve()

/** Measures how much memory the server keeps for callers that never read, and for how long. */
import { execFileSync } from "node:child_process"
import { connect, type Socket } from "node:net"
import { setTimeout as pause } from "node:timers/promises"

/** Resident memory in MiB. */
const readMemory = (pid: number) => Math.round(Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)])) / 1024)

interface UnreadRequests {
  readonly api: string
  readonly pid: number
  readonly path: string
  readonly key?: string
  readonly sockets: number
}

export const leaveUnread = async ({ api, key, path, pid, sockets }: UnreadRequests) => {
  const { host, hostname, port } = new URL(api)
  const authorization = key === undefined ? "" : `Authorization: Bearer ${key}\r\n`
  const before = readMemory(pid)
  let openSockets = sockets
  const connections = Array.from({ length: sockets }, (): Socket => {
    const socket = connect(Number(port), hostname).pause()
    socket.on("error", () => {}).once("close", () => openSockets--)
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${authorization}\r\n`)
    return socket
  })
  let peak = before
  for (let second = 0; second < 10; second++) {
    await pause(1_000)
    peak = Math.max(peak, readMemory(pid))
  }
  await pause(35_000)
  // a socket that reads nothing reports that it is closed only at its second write
  for (let time = 0; time < 2; time++) {
    for (const socket of connections) socket.write("GET ")
    await pause(1_000)
  }
  const after = readMemory(pid)
  const stillOpen = openSockets
  for (const socket of connections) socket.destroy()
  return { "MiB before": before, peak, "after 45 s": after, "still open": stillOpen }
}

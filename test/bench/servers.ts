/** The servers that `larder-serve` is compared with, as child processes, and the answers that it gives. */
import { spawn } from "node:child_process"
import path from "node:path"
import { createInterface } from "node:readline"
import { type Environment, newKey } from "../support/programs.ts"

/** A server of this folder: it prints its address in its first line. */
export const startChild = async (file: string, argument: string) => {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, file), argument], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const lines = createInterface({ input: child.stdout })
  const first = await new Promise<string>((resolve, reject) => {
    lines.once("line", resolve)
    child.once("close", (code) => reject(new Error(`${file} ended with ${code} before it listened`)))
  })
  return { api: (JSON.parse(first) as { readonly api: string }).api, stop: () => child.kill() }
}

/** A key that no benchmark uses up. */
export const richKey = async (home: string, environment: Environment = {}) =>
  (await newKey(home, { budget: "1000000", usd: "1000000", environment })).key

/** What a real answer looks like: bare h3 gives back the same bytes and headers. */
export const answerOf = async (url: string, key: string) => {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}`, "accept-encoding": "identity" } })
  const body = await response.text()
  const sentByNode = ["date", "connection", "keep-alive", "transfer-encoding"]
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !sentByNode.includes(name)))
  return { body, headers }
}

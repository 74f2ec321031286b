/** Starts the servers with which `larder-serve` is compared, as child processes. */
import { spawn } from "node:child_process"
import path from "node:path"
import { createInterface } from "node:readline"
import { type KeyOptions, newKey } from "../support/programs.ts"

/** Starts a server of this folder, which prints its address in its first line. */
export const startChild = async (file: string, argument: string) => {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, file), argument], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const lines = createInterface({ input: child.stdout })
  const first = await new Promise<string>((resolve, reject) => {
    lines.once("line", resolve)
    child.once("close", (code) => reject(new Error(`${file} exited with ${code} before it listened`)))
  })
  return { api: (JSON.parse(first) as { readonly api: string }).api, child, stop: () => child.kill() }
}

/** Creates a key with more credits than any benchmark spends. */
export const createFundedKey = async (home: string, options: Pick<KeyOptions, "checkout" | "environment"> = {}) =>
  (await newKey(home, { budget: "1000000", usd: "1000000", ...options })).key

/** The response of a request, for bare h3 to return the same bytes and headers. */
export const fetchResponse = async (url: string, key: string) => {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}`, "accept-encoding": "identity" } })
  const body = await response.text()
  const sentByNode = ["date", "connection", "keep-alive", "transfer-encoding"]
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !sentByNode.includes(name)))
  return { body, headers }
}

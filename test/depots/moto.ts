/** moto: a stand-in for S3 that many projects test against, with conditions that hold. It looks at no signature and no checksum. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { clean } from "../support/programs.ts"
import { fromPython } from "./python.ts"
import { bucketAt, orStop, type Service } from "./service.ts"

/** On the loopback, on a port that is free, with a bucket. */
export const startMoto = async (): Promise<Service> => {
  const child = spawn(await fromPython("moto", "python"), ["-m", "moto.server", "-H", "127.0.0.1", "-p", "0"], {
    env: clean({}),
    stdio: ["ignore", "ignore", "pipe"]
  })
  const stop = () => child.kill()
  for await (const line of createInterface({ input: child.stderr })) {
    const endpoint = /Running on (http:\S+)/.exec(line)?.[1]
    if (endpoint === undefined) continue
    child.stderr.resume()
    return orStop(stop, async () => ({
      settings: await bucketAt(endpoint, "larder", "a secret"),
      isStrict: false,
      stop
    }))
  }
  throw new Error("moto ended before it listened")
}

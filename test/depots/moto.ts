/**
 * moto: a stand-in for S3 that many projects test against. It looks at no signature and no checksum, and its conditions hold only where it
 * answers one request after the other: with a thread for each, twenty that put one name had two winners.
 */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { cleanEnvironment } from "../support/programs.ts"
import { fromPython } from "./python.ts"
import { bucketAt, orStop, type Service } from "./service.ts"

const oneAtATime = `
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
run_simple("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app))`

/** On the loopback, on a port that is free, with a bucket. */
export const startMoto = async (): Promise<Service> => {
  const child = spawn(await fromPython("moto", "python"), ["-c", oneAtATime], {
    env: cleanEnvironment({}),
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

/**
 * Starts moto, a stand-in for S3 that many projects test against. It verifies no signatures and no checksums, and
 * applies conditions reliably only to sequential requests: with a thread for each of twenty requests that put the same
 * name, two succeeded.
 */
import { spawn } from "node:child_process"
import path from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { cleanEnvironment } from "../support/programs.ts"
import { installFromPython } from "../support/tools.ts"
import { createBucket, type Service, startOrStop } from "./service.ts"

const requirements = fileURLToPath(new URL("requirements/moto.txt", import.meta.url))

const oneAtATime = `
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import run_simple
run_simple("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app))`

/** On a free port of the loopback interface, with a bucket. */
export const startMoto = async (): Promise<Service> => {
  const programs = await installFromPython("depots/moto", requirements)
  const child = spawn(path.join(programs, "python"), ["-c", oneAtATime], {
    env: cleanEnvironment({}),
    stdio: ["ignore", "ignore", "pipe"]
  })
  const stop = () => child.kill()
  for await (const line of createInterface({ input: child.stderr })) {
    const endpoint = /Running on (http:\S+)/.exec(line)?.[1]
    if (endpoint === undefined) continue
    child.stderr.resume()
    return startOrStop(stop, async () => ({
      settings: await createBucket(endpoint, "larder", "a secret"),
      isStrict: false,
      stop
    }))
  }
  throw new Error("moto ended before it accepted connections")
}

/** Builds S3 services that are written in Go, once, from pinned sources. Each build takes some minutes. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { freePort } from "../support/postgres/port.ts"
import { cleanEnvironment, type Environment } from "../support/programs.ts"
import { repository } from "../support/repository.ts"
import { installOnce } from "../support/tools.ts"
import { createBucket, type Service, startOrStop, waitForResponse } from "./service.ts"

const accessKeyId = "larder"
const secretAccessKey = "a-secret-of-larder"

interface Source {
  readonly program: string
  readonly module: string
  readonly args: (address: string, folder: string) => ReadonlyArray<string>
  readonly environment: Environment
}

export const versitygw: Source = {
  program: "versitygw",
  module: "github.com/versity/versitygw/cmd/versitygw@v1.8.0",
  args: (address, folder) => ["--port", address, "posix", folder],
  environment: { ROOT_ACCESS_KEY: accessKeyId, ROOT_SECRET_KEY: secretAccessKey }
}

export const minio: Source = {
  program: "minio",
  module: "github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c",
  args: (address, folder) => ["server", "--quiet", "--address", address, "--console-address", "127.0.0.1:0", folder],
  environment: { MINIO_ROOT_USER: accessKeyId, MINIO_ROOT_PASSWORD: secretAccessKey, MINIO_BROWSER: "off" }
}

/** Starts a service on the loopback interface. Its files are in a folder that is removed when it stops. */
export const startFromGo = async ({ args, environment, module, program }: Source): Promise<Service> => {
  const tools = path.join(repository, "node_modules/.cache/depots", program)
  await installOnce(tools, [["go", "install", module]], undefined, { GOBIN: tools })
  const folder = mkdtempSync(path.join(tmpdir(), `larder-${program}-`))
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(path.join(tools, program), args(address, folder), {
    env: cleanEnvironment(environment),
    stdio: "ignore"
  })
  const stop = () => {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  const ended = new Promise<never>((_, reject) => {
    child.once("exit", (code) => reject(new Error(`${program} ended with ${code}`)))
  })
  ended.catch(() => undefined) // it also ends when it is stopped
  return startOrStop(stop, async () => {
    await Promise.race([waitForResponse(`http://${address}`), ended])
    return { settings: await createBucket(`http://${address}`, accessKeyId, secretAccessKey), isStrict: true, stop }
  })
}

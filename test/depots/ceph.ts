/**
 * Starts Ceph's object gateway over a cluster with one monitor and a store in memory. Requires the programs of Ceph, and
 * the permissions of their user.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { freePort } from "../support/postgres/port.ts"
import { cleanEnvironment } from "../support/programs.ts"
import { type Command, isInstalled, runCommand } from "../support/tools.ts"
import { createBucket, type Service, startOrStop, waitForResponse } from "./service.ts"

/** The missing programs of Debian's packages ceph-mon, ceph-osd, ceph-common and radosgw. */
export const listMissingPrograms = () =>
  ["ceph-mon", "ceph-osd", "ceph", "radosgw", "radosgw-admin"].filter((program) => !isInstalled(program))

const fsid = "6b3f0f1c-54c5-4f6e-8d0e-1d2c3b4a5960"
const store = "0e6f4f57-4a0c-4a35-9b63-0e2f1d6a7b80"

const configuration = (folder: string, monitor: number) => `[global]
fsid = ${fsid}
mon host = [v1:127.0.0.1:${monitor}]
ms bind msgr2 = false
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
osd pool default pgp num = 8
osd pool default pg autoscale mode = off
mon allow pool size one = true
mon max pg per osd = 1000
osd crush chooseleaf type = 0
osd objectstore = memstore
memstore device bytes = 1073741824
run dir = ${folder}
log file = ${folder}/$name.log
admin socket = ${folder}/$name.asok
mon data = ${folder}/mon
osd data = ${folder}/osd
mgr data = ${folder}/mgr
rgw data = ${folder}/rgw
keyring = ${folder}/keyring
`

export const startCeph = async (): Promise<Service> => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-ceph-"))
  for (const name of ["mon", "osd", "mgr", "rgw"]) mkdirSync(path.join(folder, name))
  const [monitor, port] = [await freePort(), await freePort()]
  const settings = path.join(folder, "ceph.conf")
  writeFileSync(settings, configuration(folder, monitor))
  const daemons: Array<ChildProcess> = []
  const start = (program: string, ...args: ReadonlyArray<string>) =>
    daemons.push(spawn(program, ["-c", settings, ...args, "-f"], { env: cleanEnvironment({}), stdio: "ignore" }))
  const run = (...command: Command) => runCommand(command, folder, {})
  const stop = () => {
    for (const daemon of daemons) daemon.kill("SIGKILL") // their data is not needed
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }

  return startOrStop(stop, async () => {
    for (const name of ["client.admin", "mon."]) {
      const rights = ["--cap", "mon", "allow *", ...(name === "mon." ? [] : ["--cap", "osd", "allow *"])]
      await run("ceph-authtool", "keyring", ...(name === "mon." ? [] : ["-C"]), "--gen-key", "-n", name, ...rights)
    }
    await run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", `[v1:127.0.0.1:${monitor}]`, "monmap")
    await run("ceph-mon", "-c", settings, "--mkfs", "-i", "a", "--monmap", "monmap", "--keyring", "keyring")
    start("ceph-mon", "-i", "a")
    await run("ceph", "-c", settings, "osd", "new", store)
    await run("ceph-osd", "-c", settings, "-i", "0", "--mkfs", "--osd-uuid", store)
    start("ceph-osd", "-i", "0")
    start("radosgw", "-n", "client.admin", `--rgw-frontends=beast endpoint=127.0.0.1:${port}`)
    const endpoint = `http://127.0.0.1:${port}`
    await waitForResponse(endpoint)
    const [accessKeyId, secretAccessKey] = ["larder", "a-secret-of-larder"]
    const keys = [`--access-key=${accessKeyId}`, `--secret-key=${secretAccessKey}`]
    await run("radosgw-admin", "-c", settings, "user", "create", "--uid=larder", "--display-name=larder", ...keys)
    return { settings: await createBucket(endpoint, accessKeyId, secretAccessKey), isStrict: true, stop }
  })
}

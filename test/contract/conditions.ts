/** Conditions that a test cannot wait for, such as another month or a full disk, for a server under test. */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll } from "vitest"

const preload = (name: string) => `--import=${new URL(`./preload/${name}.mjs`, import.meta.url).href}`

const makeFolder = () => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-conditions-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A clock that stays at the time it is set to, so that no test depends on the time of its run. */
export const makeFixedClock = (initialTime: string) => {
  const file = path.join(makeFolder(), "clock")
  writeFileSync(file, "")
  const set = (iso: string) => utimesSync(file, new Date(iso), new Date(iso))
  set(initialTime)
  return { environment: { NODE_OPTIONS: preload("clock"), TEST_CLOCK: file }, set }
}

/** A disk that can be filled, so that the ledger cannot be written. */
export const makeDisk = () => {
  const file = path.join(makeFolder(), "full")
  return {
    environment: { NODE_OPTIONS: preload("full-disk"), TEST_FULL_DISK: file },
    fill: () => writeFileSync(file, ""),
    free: () => rmSync(file)
  }
}

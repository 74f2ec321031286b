/** Conditions that a test cannot wait for: another month, a full disk. A server under test is started with them. */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll } from "vitest"

const preloaded = (name: string) => `--import=${new URL(`./preload/${name}.mjs`, import.meta.url).href}`

const folderOfFile = () => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-conditions-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A clock that stands still where it was set, so that no test depends on when it runs. */
export const standingClock = (moment: string) => {
  const file = path.join(folderOfFile(), "clock")
  writeFileSync(file, "")
  const set = (iso: string) => utimesSync(file, new Date(iso), new Date(iso))
  set(moment)
  return { environment: { NODE_OPTIONS: preloaded("clock"), TEST_CLOCK: file }, set }
}

/** A disk that can be filled: then the ledger cannot be written. */
export const disk = () => {
  const file = path.join(folderOfFile(), "full")
  return {
    environment: { NODE_OPTIONS: preloaded("full-disk"), TEST_FULL_DISK: file },
    fill: () => writeFileSync(file, ""),
    free: () => rmSync(file)
  }
}

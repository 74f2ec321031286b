/** Files that survive a power failure: flushed, including the folder's entry. */
import { closeSync, fsyncSync, openSync } from "node:fs"

export const flushFile = (file: string): void => {
  const fd = openSync(file, "r+")
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Makes creations, renames and removals in a folder durable. Windows does so itself, and cannot open folders. */
export const flushFolder = (directory: string): void => {
  if (process.platform === "win32") return
  const fd = openSync(directory, "r")
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Flushes files and folders, so that they survive a power failure. */
import { closeSync, fsyncSync, openSync } from "node:fs"

const flush = (path: string, flags: "r" | "r+") => {
  const fd = openSync(path, flags)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

export const flushFile = (file: string): void => flush(file, "r+")

/** Makes creations, renames and removals in a folder durable. Windows does so itself, and cannot open folders. */
export const flushFolder = (directory: string): void => {
  if (process.platform !== "win32") flush(directory, "r")
}

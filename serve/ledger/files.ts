/** Files that survive a power cut: written to their end and flushed, the folder's entry included. */
import { closeSync, fdatasyncSync, fsyncSync, openSync, rmSync, writeSync } from "node:fs"
import { rm, writeFile } from "node:fs/promises"

/** Writes all bytes at a place of the file and waits until they are on the disk. Blocks. */
export const writeDurably = (fd: number, bytes: Uint8Array, position: number): void => {
  let written = 0
  while (written < bytes.length) {
    written += writeSync(fd, bytes, written, bytes.length - written, position + written)
  }
  fdatasyncSync(fd)
}

/**
 * Creates a file of zeros: its length and its blocks are on the disk before anything is written to it. Where the disk is
 * too full for it nothing of it stays, so that what is left of the disk serves others. Blocks.
 */
export const createZeros = (file: string, size: number): void => {
  try {
    const fd = openSync(file, "w")
    try {
      writeDurably(fd, Buffer.alloc(size), 0)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
}

/** The same on the thread pool. */
export const createZerosInBackground = async (file: string, size: number): Promise<void> => {
  try {
    await writeFile(file, Buffer.alloc(size), { flush: true })
  } catch (error) {
    await rm(file, { force: true })
    throw error
  }
}

export const syncFile = (file: string): void => {
  const fd = openSync(file, "r+")
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Makes creations, renames and removals in a folder durable. Windows does so by itself, and cannot open folders. */
export const syncDirectory = (directory: string): void => {
  if (process.platform === "win32") return
  const fd = openSync(directory, "r")
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

export const removeDurably = (file: string, directory: string): void => {
  rmSync(file, { force: true })
  syncDirectory(directory)
}

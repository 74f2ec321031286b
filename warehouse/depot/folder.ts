/**
 * A depot in a folder, as strict as an object store: every file appears atomically, under a name that was free, and is
 * read-only from then on. Objects are hard links of the files that they were made from, if both are on one file system.
 */
import { randomUUID } from "node:crypto"
import { constants, createReadStream } from "node:fs"
import { chmod, copyFile, link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import path from "node:path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, type FileSystem, Option, type PlatformError, Stream } from "effect"
import { syncFile, syncFolder } from "../disk.ts"
import { type Depot, DepotUnusable } from "./depot.ts"

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "")

/** The setting that names the folder. */
type Setting = "LARDER_DEPOT" | "LARDER_HOME"

const adviceFor = (cause: unknown, setting: Setting) => {
  switch (codeOf(cause)) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return "The disk is full: make room, and run again."
    case "EACCES":
    case "EROFS":
      return `The folder cannot be written: give this user write access, or set ${setting} to another folder.`
    case "EPERM":
    case "ENOSYS":
    case "ENOTSUP":
    case "EOPNOTSUPP":
      return `The folder must be on a file system with hard links: set ${setting} to such a folder.`
    default:
      return "Check the folder, and run again."
  }
}

/** Fails with the error of the system, from which the advice follows. */
const flushed = (flush: Effect.Effect<void, PlatformError.PlatformError, FileSystem.FileSystem>) =>
  Effect.runPromise(
    flush.pipe(
      Effect.mapError(({ reason }) => reason.cause ?? reason),
      Effect.provide(NodeFileSystem.layer)
    )
  )

/** A hard link, or a copy if the target is on another file system. */
const linkOrCopy = async (file: string, target: string) => {
  try {
    await link(file, target)
  } catch (error) {
    if (codeOf(error) !== "EXDEV") throw error
    await copyFile(file, target, constants.COPYFILE_EXCL)
  }
}

const exists = (file: string) =>
  stat(file).then(
    () => true,
    (error) => {
      if (codeOf(error) === "ENOENT") return false
      throw error
    }
  )

/** Creates a folder that survives a power failure. */
const makeFolder = async (folder: string) => {
  const first = await mkdir(folder, { recursive: true })
  if (first !== undefined) await flushed(syncFolder(path.dirname(first)))
}

/** Lets `write` create a file, then `place` puts it in its place. A full disk leaves no unfinished file. */
const put = async <A>(
  target: string,
  write: (part: string) => Promise<void>,
  place: (part: string, target: string) => Promise<A>
) => {
  await makeFolder(path.dirname(target))
  const part = path.join(path.dirname(target), `.${path.basename(target)}.${randomUUID()}.part`)
  try {
    await write(part)
    return await place(part, target)
  } finally {
    await rm(part, { force: true })
  }
}

/** False if the name is taken. */
const linkIfFree = (part: string, target: string) =>
  link(part, target).then(
    () => true,
    (error) => {
      if (codeOf(error) === "EEXIST") return false
      throw error
    }
  )

const putOnce = async (target: string, write: (part: string) => Promise<void>) => {
  const isNew = await put(target, write, linkIfFree)
  if (isNew) await flushed(syncFolder(path.dirname(target)))
  return isNew
}

/** Unfinished files: a program is putting them, or was killed while it did. */
const isPart = (name: string) => name.endsWith(".part")

export const folderDepot = (location: string, setting: Setting = "LARDER_DEPOT"): Depot => {
  const at = (name: string) => path.join(location, name)
  const attempt = <A>(what: string, run: () => Promise<A>) =>
    Effect.tryPromise({
      try: run,
      catch: (cause) =>
        new DepotUnusable({ attempt: `${what} in ${location}`, cause, advice: adviceFor(cause, setting) })
    }).pipe(Effect.uninterruptible)

  const putText: Depot["putText"] = (name, text) =>
    attempt(`write ${name}`, () =>
      putOnce(at(name), (part) => writeFile(part, text, { flag: "wx", flush: true, mode: 0o444 }))
    )

  const putFile: Depot["putFile"] = (name, _, file) =>
    attempt(`keep ${name}`, async () => {
      const target = at(name)
      if (await exists(target)) return
      await putOnce(target, async (part) => {
        await linkOrCopy(file, part)
        await flushed(syncFile(part))
        await chmod(part, 0o444) // a client that forgets to open it read-only cannot change it
      })
    })

  const replace = (name: string, write: (part: string) => Promise<void>) =>
    attempt(`write ${name}`, () => put(at(name), write, rename))

  const putHint: Depot["putHint"] = (name, text) => replace(name, (part) => writeFile(part, text, { flag: "wx" }))

  const replaceFile: Depot["replaceFile"] = (name, _, file) =>
    replace(name, async (part) => {
      await copyFile(file, part, constants.COPYFILE_EXCL)
      await flushed(syncFile(part))
      await chmod(part, 0o444)
      await rm(`${at(name)}.wal`, { force: true }) // the write-ahead log of a program that wrote to the old file
    })

  const text: Depot["text"] = (name) =>
    attempt(`read ${name}`, () =>
      readFile(at(name), "utf8").then(Option.some, (error) => {
        if (codeOf(error) === "ENOENT") return Option.none()
        throw error
      })
    )

  const bytes: Depot["bytes"] = (name, from) =>
    Stream.suspend(() =>
      Stream.fromAsyncIterable<Uint8Array, DepotUnusable>(
        createReadStream(at(name), { start: from }),
        (cause) =>
          new DepotUnusable({
            attempt: `read ${name} in ${location}`,
            cause,
            advice: "Check the folder, and run again."
          })
      )
    )

  const allNamesIn = async (folder: string) => {
    try {
      return (await readdir(folder)).sort()
    } catch (error) {
      if (codeOf(error) === "ENOENT") return []
      throw error
    }
  }
  const namesIn = async (folder: string) => (await allNamesIn(folder)).filter((name) => !isPart(name))

  const list: Depot["list"] = (prefix, after = "") =>
    attempt(`list ${prefix}`, async () => {
      const folder = path.posix.dirname(`${prefix}.`)
      const names = (await namesIn(at(folder))).map((name) => `${folder}/${name}`)
      return names.filter((name) => name.startsWith(prefix) && name > after)
    })

  const dated: Depot["dated"] = (folder) =>
    attempt(`list ${folder}`, async () => {
      const found = new Map<string, number>()
      const look = async (name: string) => {
        const entry = await stat(at(name)).catch((error) => {
          if (codeOf(error) !== "ENOENT") throw error // another process removed it meanwhile
        })
        if (entry === undefined) return
        if (entry.isFile()) found.set(name, entry.mtimeMs)
        else for (const inside of await namesIn(at(name))) await look(`${name}/${inside}`)
      }
      for (const inside of await namesIn(at(folder))) await look(`${folder}${inside}`)
      return found
    })

  const remove: Depot["remove"] = (names) =>
    attempt("remove what is old", async () => {
      for (const name of names) await rm(at(name), { force: true })
    })

  /** Uses the change time, which is that of the link: the file itself may have been written long before. */
  const sweep: Depot["sweep"] = (before) =>
    attempt("remove what killed runs left", async () => {
      const look = async (folder: string) => {
        for (const name of await allNamesIn(folder)) {
          const file = path.join(folder, name)
          const found = await stat(file).catch(() => undefined) // it may have got its name and been removed meanwhile
          if (found?.isDirectory()) await look(file)
          else if (found !== undefined && isPart(name) && found.ctimeMs < before) await rm(file, { force: true })
        }
      }
      for (const folder of ["generations", "objects", "lake"]) await look(at(folder))
    })

  return { location, putText, putHint, text, putFile, replaceFile, bytes, list, dated, remove, sweep }
}

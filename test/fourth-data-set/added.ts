/** Makes a copy of the tree, and adds or removes the data set of `files/`. */
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { repository } from "../support/repository.ts"

export const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
export const patchFile = pathOf("registration.patch")

/** Copies all files that git does not ignore. Packages are links to the original, rooms are links to the copy. */
export const copyTree = (copy: string): void => {
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: repository })
  for (const file of listed.toString().split("\0").filter(Boolean)) {
    cpSync(path.join(repository, file), path.join(copy, file), { verbatimSymlinks: true })
  }
  const packages = path.join(copy, "node_modules")
  mkdirSync(path.join(packages, "@larder"), { recursive: true })
  for (const name of readdirSync(path.join(repository, "node_modules"))) {
    if (name !== "@larder" && name !== ".cache")
      symlinkSync(path.join(repository, "node_modules", name), path.join(packages, name))
  }
  for (const room of ["schemas", "warehouse", "pipelines", "serve", "test"]) {
    symlinkSync(path.join("..", "..", room), path.join(packages, "@larder", room))
  }
}

/** The files of the data set itself. */
export const listOwnFiles = (): ReadonlyArray<string> =>
  readdirSync(pathOf("files"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(pathOf("files"), path.join(entry.parentPath, entry.name)))

export const copyOwnFiles = (copy: string): void => cpSync(pathOf("files"), copy, { recursive: true })

const patch = (copy: string, ...flags: ReadonlyArray<string>) =>
  execFileSync("git", ["apply", ...flags, patchFile], { cwd: copy, env: { ...process.env, GIT_DIR: "/dev/null" } })

export const addDataSet = (copy: string): void => {
  copyOwnFiles(copy)
  patch(copy)
}

export const removeDataSet = (copy: string): void => {
  patch(copy, "-R")
  for (const file of listOwnFiles()) rmSync(path.join(copy, file))
}

/** Existing files that the patch changes, in its order. */
export const listPatchedFiles = (): ReadonlyArray<string> =>
  [...readFileSync(patchFile, "utf8").matchAll(/^\+\+\+ b\/(\S+)$/gm)].map(([, file = ""]) => file)

const findDocumented = (pattern: RegExp): ReadonlyArray<string> => {
  const text = readFileSync(path.join(repository, "docs/contributing.md"), "utf8")
  const [section = ""] = /^## Add a data set\n[\s\S]*?(?=^## )/m.exec(text) ?? []
  return [...section.matchAll(pattern)].map(([, name = ""]) => name)
}

/** Existing files that docs/contributing.md names for a new data set, in its order. */
export const listDocumentedFiles = () => findDocumented(/^\d+\. `([^`]+)`/gm)

/** Folders that docs/contributing.md names for the files of the data set itself. */
export const listDocumentedFolders = () => findDocumented(/^- `test\/fourth-data-set\/files\/([^`]+)`/gm)

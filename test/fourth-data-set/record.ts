/**
 * Writes `registration.patch` again after a change of one of the files in it:
 *
 *     node test/fourth-data-set/record.ts
 *
 * It applies the patch to a copy of the tree. If a part does not apply, it names the copy: add the missing lines there
 * by hand, and run the command again with the folder of the copy.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { repository } from "../support/repository.ts"
import { copyOwnFiles, copyTree, listDocumentedFiles, patchFile } from "./added.ts"

const promiseFile = "test/openapi/promised.json"

const makePatchedCopy = () => {
  const copy = mkdtempSync(path.join(tmpdir(), "larder-fourth-"))
  copyTree(copy)
  copyOwnFiles(copy)
  const { status } = spawnSync("patch", ["-p1", "--forward", "-i", patchFile], { cwd: copy, stdio: "inherit" })
  if (status === 0) return copy
  console.error(`Add what is missing in ${copy}, and run: node test/fourth-data-set/record.ts ${copy}`)
  process.exit(1)
}

const copy = process.argv[2] ?? makePatchedCopy()
spawnSync(process.execPath, ["test/openapi/record.ts"], { cwd: copy, stdio: "inherit" })
const changes = listDocumentedFiles().map((file) => {
  const labels = ["--label", `a/${file}`, "--label", `b/${file}`]
  return spawnSync("diff", ["-u", ...labels, path.join(repository, file), path.join(copy, file)]).stdout.toString()
})
writeFileSync(patchFile, changes.join(""))
rmSync(copy, { recursive: true })
console.log(`${patchFile} changes ${changes.filter((change) => change !== "").length} files, including ${promiseFile}`)

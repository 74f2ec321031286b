/** `node test/dictionary/record.ts` writes docs/dictionary.md from the definitions and the bundled samples. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { run } from "../support/programs.ts"
import { repository } from "../support/repository.ts"
import { makeDictionary } from "./markdown.ts"

const home = mkdtempSync(path.join(tmpdir(), "larder-dictionary-"))
try {
  const { code, stderr } = await run("larder-ingest", ["all"], { LARDER_HOME: home, LARDER_SOURCES: "sample" })
  if (code !== 0) throw new Error(`the bundled samples could not be ingested:\n${stderr}`)
  writeFileSync(path.join(repository, "docs/dictionary.md"), await makeDictionary(home))
} finally {
  rmSync(home, { recursive: true, force: true })
}

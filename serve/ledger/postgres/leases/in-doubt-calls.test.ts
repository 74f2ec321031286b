import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { openInDoubtFiles } from "./in-doubt-calls.ts"

describe("files of in-doubt calls", () => {
  it("are readable by their owner only, even if the folder and files existed before", () => {
    const home = mkdtempSync(path.join(tmpdir(), "larder-in-doubt-"))
    try {
      const [ledger, folder] = [path.join(home, "ledger"), path.join(home, "ledger", "in-doubt")]
      const before = path.join(folder, "before")
      mkdirSync(folder, { recursive: true })
      writeFileSync(before, "req_1\n")
      for (const name of [ledger, folder, before]) chmodSync(name, 0o755)
      openInDoubtFiles(ledger).add("now", ["req_2"])
      const modes = [ledger, folder, before, path.join(folder, "now")].map((name) => statSync(name).mode & 0o077)
      assert.deepStrictEqual(modes, [0, 0, 0, 0])
    } finally {
      rmSync(home, { recursive: true })
    }
  })
})

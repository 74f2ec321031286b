import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterAll } from "vitest"

describe("a pack", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-pack-file-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("of a payload of 130 MB is written, verified and read in less than 256 MB", () => {
    const script = `
      import { createReadStream, truncateSync, writeFileSync } from "node:fs"
      import { createHash } from "node:crypto"
      import { openPack, readMember, verifyPack, writePack } from "./pack-file.ts"
      const file = process.argv[1] + "/payload"
      writeFileSync(file, "")
      truncateSync(file, 130e6)
      const hash = createHash("sha256")
      for await (const piece of createReadStream(file)) hash.update(piece)
      const payload = { sha256: hash.digest("hex"), file, written_at: new Date() }
      const pack = process.argv[1] + "/pack.zip"
      await writePack(pack, [payload])
      await verifyPack(pack, [payload])
      const opened = await openPack(pack)
      await readMember(opened, payload.sha256, process.argv[1] + "/again")
      opened.close()
      console.log(process.resourceUsage().maxRSS)`
    const { status, stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script, folder], {
      cwd: import.meta.dirname,
      encoding: "utf8"
    })
    assert.strictEqual(status, 0, stderr)
    assert.isBelow(Number(stdout), 256 * 1024)
  })
})

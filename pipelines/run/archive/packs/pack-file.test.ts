import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { afterAll, expect } from "vitest"
import { openPack, readMember, writePack } from "./pack-file.ts"

describe("a pack", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-pack-file-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("with a payload of 130 MB is written, verified and read in less than 256 MB", () => {
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
      await readMember(opened, payload.sha256, process.argv[1] + "/copy")
      opened.close()
      console.log(process.resourceUsage().maxRSS)`
    const { status, stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script, folder], {
      cwd: import.meta.dirname,
      encoding: "utf8"
    })
    assert.strictEqual(status, 0, stderr)
    assert.isBelow(Number(stdout), 256 * 1024)
  })

  it("returns no more bytes than its header states, and reports damaged bytes", async () => {
    const text = "a line\n".repeat(100_000)
    const sha256 = createHash("sha256").update(text).digest("hex")
    const [file, pack] = [path.join(folder, "text"), path.join(folder, "text.zip")]
    writeFileSync(file, text)
    await writePack(pack, [{ sha256, file, written_at: new Date() }])
    const whole = readFileSync(pack)
    const readChanged = async (change: (bytes: Buffer) => void) => {
      const changed = Buffer.from(whole)
      change(changed)
      writeFileSync(pack, changed)
      const opened = await openPack(pack)
      try {
        await readMember(opened, sha256)
      } finally {
        opened.close()
      }
    }
    await readChanged(() => {})
    const sizeInDirectory = whole.indexOf("PK\u0001\u0002") + 24
    await expect(readChanged((bytes) => bytes.writeUInt32LE(1000, sizeInDirectory))).rejects.toThrow(
      "it has more bytes than its header states"
    )
    await expect(readChanged((bytes) => bytes.fill(0xff, 100, 200))).rejects.toThrow(/invalid|incorrect/)
  })
})

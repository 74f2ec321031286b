/** Printing payloads of the raw archive, and refusing an archive in an earlier format. */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import path from "node:path"
import { buffer, text } from "node:stream/consumers"
import { zstdCompressSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { inject } from "vitest"
import { copyForTest, makeTestFolder } from "../end-to-end/ingesting.ts"
import { filesIn, sha256Of } from "../support/pipelines/raw-archive.ts"
import { cleanEnvironment, readProblems, run, start, waitForExit } from "../support/programs.ts"
import { repository } from "../support/repository.ts"

const printRaw = async (home: string, ...args: ReadonlyArray<string>) => {
  const child = start("larder-ingest", ["raw", ...args], { LARDER_HOME: home })
  assert.isNotNull(child.stdout)
  assert.isNotNull(child.stderr)
  const [[code], stdout, stderr] = await Promise.all([once(child, "close"), buffer(child.stdout), text(child.stderr)])
  return { code, stdout, problems: readProblems(stderr), stderr }
}

/** One of the payloads whose file has this ending, or none. */
const findPayload = (home: string, ending: "" | ".zst") => {
  const files = filesIn(path.join(home, "raw")).filter((name) => path.extname(name) === ending)
  const [name = ""] = files
  return { sha256: path.basename(name, ".zst"), file: path.join(home, "raw", name) }
}

describe("larder-ingest raw", () => {
  it("prints a payload of the bundled samples as it was fetched, compressed or not", async () => {
    const home = inject("sampleHome")
    for (const ending of ["", ".zst"] as const) {
      const { sha256 } = findPayload(home, ending)
      const { code, stderr, stdout } = await printRaw(home, sha256)
      assert.strictEqual(code, 0, stderr)
      assert.strictEqual(sha256Of(stdout), sha256)
    }
  })

  it("prints nothing and exits with 1 if the archive does not have the payload", async () => {
    const home = makeTestFolder()
    const { code, problems, stdout } = await printRaw(home, "ab".repeat(32))
    assert.deepStrictEqual([code, stdout.length], [1, 0])
    assert.strictEqual(
      problems,
      `larder-ingest: ${home}/raw has no payload ${"ab".repeat(32)}. Another home fetched it, or larder-ingest prune has removed it.\n`
    )
  })

  it("prints nothing and exits with 1 if the file is damaged, and names it", async () => {
    const home = copyForTest(inject("sampleHome"))
    for (const ending of ["", ".zst"] as const) {
      const { file, sha256 } = findPayload(home, ending)
      const bytes = readFileSync(file)
      writeFileSync(file, bytes.with(bytes.length >> 1, (bytes[bytes.length >> 1] ?? 0) ^ 1))
      const { code, problems, stdout } = await printRaw(home, sha256)
      assert.deepStrictEqual([code, stdout.length], [1, 0])
      assert.include(problems, `The archived payload ${file} `)
      assert.include(problems, "Restore it from a backup; a run that fetches it again also repairs it.")
    }
  })

  it.each([
    ["a second Zstandard frame follows", zstdCompressSync("more")],
    ["other bytes follow", Buffer.from("more")]
  ])("prints nothing and exits with 1 if %s in its file", async (_name, more) => {
    const home = copyForTest(inject("sampleHome"))
    const { file, sha256 } = findPayload(home, ".zst")
    appendFileSync(file, more)
    const { code, problems, stdout } = await printRaw(home, sha256)
    assert.deepStrictEqual([code, stdout.length], [1, 0])
    assert.include(problems, `The archived payload ${file} cannot be read (other bytes follow its Zstandard frame).`)
  })

  it("refuses a FIFO and a folder in place of a payload by name", async () => {
    const home = copyForTest(inject("sampleHome"))
    for (const ending of ["", ".zst"] as const) {
      const { file, sha256 } = findPayload(home, ending)
      rmSync(file)
      if (ending === "") execFileSync("mkfifo", [file])
      else mkdirSync(file)
      const { code, problems, stdout } = await printRaw(home, sha256)
      assert.deepStrictEqual([code, stdout.length], [1, 0])
      assert.include(problems, `The archived payload ${file} cannot be read (it is not a regular file).`)
    }
  })

  /** Prints the largest payload through a shell. */
  const printThrough = async (command: string) => {
    const home = inject("sampleHome")
    const [largest = ""] = filesIn(path.join(home, "raw")).toSorted(
      (a, b) => statSync(path.join(home, "raw", b)).size - statSync(path.join(home, "raw", a)).size
    )
    const program = path.join(repository, "pipelines/bin/larder-ingest.mjs")
    const args = ["-c", command, "bash", process.execPath, program, "raw", path.basename(largest, ".zst")]
    return waitForExit(
      spawn("bash", args, { env: cleanEnvironment({ LARDER_HOME: home }), stdio: ["ignore", "pipe", "pipe"] })
    )
  }

  it("exits with 1 and one error if its output cannot be written", async () => {
    const { code, problems, stderr } = await printThrough('"$@" >/dev/full')
    assert.strictEqual(code, 1)
    assert.match(problems, /^larder-ingest: The output cannot be written: ENOSPC: no space left on device, write\n$/)
    assert.lengthOf(stderr.trimEnd().split("\n"), 1)
  })

  it("ends without an error if its reader closes the pipe", async () => {
    const { code, stderr, stdout } = await printThrough('"$@" | head -c 10; exit "$PIPESTATUS"')
    assert.deepStrictEqual([code, stdout.length, stderr], [0, 10, ""])
  })

  it("exits with 2 without a whole SHA-256", async () => {
    for (const args of [[], ["ab12"], ["AB".repeat(32)]]) {
      const { code, stderr } = await printRaw(makeTestFolder(), ...args)
      assert.strictEqual(code, 2)
      assert.match(stderr, /sha256/i)
    }
  })
})

describe("a raw archive in an earlier format", () => {
  it("is refused by each command before it changes anything, with a new home as the way", async () => {
    const home = makeTestFolder()
    mkdirSync(path.join(home, "raw/packs"), { recursive: true })
    const commands = [
      [],
      ["commodities", "--dry-run"],
      ["rebuild"],
      ["prune", "--keep", "1 day"],
      ["raw", "ab".repeat(32)]
    ]
    for (const args of commands) {
      const { code, problems } = await run("larder-ingest", args, { LARDER_HOME: home })
      assert.strictEqual(code, 1)
      assert.strictEqual(
        problems,
        `larder-ingest: ${home}/raw is a raw archive in an earlier format (it has a folder packs). Nothing was changed. Start with a new home: set LARDER_HOME to an empty folder.\n`
      )
    }
    assert.deepStrictEqual(readdirSync(home, { recursive: true }).sort(), ["raw", "raw/packs"])
  })
})

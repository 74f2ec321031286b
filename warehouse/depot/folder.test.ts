import { spawnSync } from "node:child_process"
import { readdirSync, statSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { testDepot } from "@larder/test/support/warehouse/depot-contract.ts"
import { Effect, FileSystem } from "effect"
import { identifyFile } from "../generation/parts.ts"
import { listObjectTimes, objectName, putObject } from "./depot.ts"
import { folderDepot } from "./folder.ts"

const aFolder = FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "larder-depot-" })).pipe(
  Effect.orDie
)

/** The error of another process that cannot write a manifest. `shell` prepares the process, and `before` runs in it. */
const readErrorIn = (
  folder: string,
  {
    before = "",
    setting = "LARDER_DEPOT",
    shell = ":"
  }: { readonly before?: string; readonly setting?: string; readonly shell?: string }
) => {
  const script = `
    import fs from "node:fs/promises"
    import { syncBuiltinESMExports } from "node:module"
    import { Effect } from "effect"
    import { folderDepot } from "./folder.ts"
    ${before}
    const put = folderDepot(process.argv[1], "${setting}").putText("generations/000000001.json", "{}".repeat(2000))
    console.log((await Effect.runPromise(Effect.flip(put))).message)`
  const { stderr, stdout } = spawnSync(
    "sh",
    ["-c", `${shell}; exec "$@"`, "sh", process.execPath, "--input-type=module", "-e", script, folder],
    { cwd: import.meta.dirname, encoding: "utf8" }
  )
  assert.strictEqual(stderr, "")
  return stdout
}

describe("a depot in a folder", () => {
  testDepot(Effect.map(aFolder, (folder) => folderDepot(path.join(folder, "missing"))))

  itLive("stores a file as a read-only hard link, or as a copy if it is on another file system", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const depot = folderDepot(folder)
      const memory = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp("/dev/shm/larder-depot-").catch(() => mkdtemp(path.join(folder, "same-")))),
        (created) => Effect.promise(() => rm(created, { recursive: true }))
      )
      for (const [from, text] of [
        [folder, "here"],
        [memory, "elsewhere"]
      ] as const) {
        const file = path.join(from, "file")
        yield* Effect.promise(() => writeFile(file, text))
        const object = yield* identifyFile(file)
        yield* putObject(depot, object, file)
        const stored = statSync(path.join(folder, objectName(object.sha256)))
        assert.strictEqual(stored.mode & 0o777, 0o444)
        assert.strictEqual(stored.dev === statSync(from).dev && stored.ino === statSync(file).ino, from === folder)
      }
    })
  )
  itLive("stores an existing object again for a user who has no write access to it", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const depot = folderDepot(folder)
      const [file, other] = ["made", "other"].map((name) => path.join(folder, name)) as [string, string]
      yield* Effect.promise(() => writeFile(file, "a part", { mode: 0o444 }))
      yield* Effect.promise(() => writeFile(other, "another", { mode: 0o444 }))
      const isRoot = process.getuid?.() === 0
      const nobody = 65_534
      if (isRoot)
        yield* FileSystem.FileSystem.use((fs) =>
          Effect.forEach([folder, file, other], (name) => fs.chown(name, nobody, nobody))
        )
      yield* Effect.acquireUseRelease(
        Effect.sync(() => isRoot && process.seteuid?.(nobody)),
        () =>
          Effect.forEach([file, other, file], (source) =>
            Effect.flatMap(identifyFile(source), (object) => putObject(depot, object, source))
          ),
        () => Effect.sync(() => isRoot && process.seteuid?.(0))
      )
      assert.strictEqual((yield* listObjectTimes(depot)).size, 2)
    })
  )
  itLive("leaves no unfinished file on a full disk, and reports the full disk", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      const message = readErrorIn(folder, { shell: "trap '' XFSZ; ulimit -f 1" })
      assert.match(message, /EFBIG.*The disk is full: make room, and run again\./)
      assert.deepStrictEqual(readdirSync(path.join(folder, "generations")), [])
    })
  )
  itLive("says what to do if this user has no write access, and leaves no files", () =>
    Effect.gen(function* () {
      const folder = yield* aFolder
      yield* FileSystem.FileSystem.use((fs) => fs.chmod(folder, 0o555))
      const message = readErrorIn(folder, { before: "if (process.getuid?.() === 0) process.setuid(65534)" })
      assert.match(
        message,
        /EACCES.*The folder cannot be written: give this user write access, or set LARDER_DEPOT to another folder\./
      )
      assert.deepStrictEqual(readdirSync(folder), [])
    })
  )
  for (const code of ["EPERM", "ENOSYS"]) {
    itLive(`says what to do if the file system has no hard links and fails with ${code}, and leaves no files`, () =>
      Effect.gen(function* () {
        const folder = yield* aFolder
        const before = `
          fs.link = async () => { throw Object.assign(new Error("${code}: no link"), { code: "${code}" }) }
          syncBuiltinESMExports()` // FAT fails with the first code, some file systems in user space with the second
        assert.match(
          readErrorIn(folder, { before, setting: "LARDER_HOME" }),
          /no link.*The folder must be on a file system with hard links: set LARDER_HOME to a folder on one\./
        )
        assert.deepStrictEqual(readdirSync(path.join(folder, "generations")), [])
      })
    )
  }
  itLive("says what to do if its folder is a file", () =>
    Effect.gen(function* () {
      const file = path.join(yield* aFolder, "file")
      yield* Effect.promise(() => writeFile(file, "not a folder"))
      const error = yield* Effect.flip(folderDepot(file).putText("generations/000000001.json", "{}"))
      assert.match(
        error.message,
        /^Cannot write generations\/000000001\.json in .*\/file: .*ENOTDIR|EEXIST.*Check the folder, and run again\.$/
      )
    })
  )
})

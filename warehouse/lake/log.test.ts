import { assert, describe, it } from "@effect/vitest"
import type { Manifest } from "../generation/manifest.ts"
import type { LakeFile } from "./files.ts"
import type { GenerationTable } from "./generation-tables.ts"
import { formatCheckpoint, formatCommit, nextVersion, parseVersion, type Version } from "./log.ts"

const makeManifest = (number: number): Manifest => ({
  format: 2,
  number,
  id: `id ${number}`,
  made_at: "2026-01-05T00:00:00.000Z",
  made_by: "somebody",
  replaces: number - 1,
  event: {
    ...{ kind: "run", pipeline: "shop", run_id: null, outcome: "published" },
    ...{ rows_loaded: null, went_back_to: null, note: null }
  },
  data_sets: {},
  ingest: { schema: 1, parts: [] }
})

const item = { name: "item", type: "VARCHAR", comment: "The item." }
const makeTable = (part: string, ...columns: GenerationTable["columns"]): GenerationTable => ({
  ...{ schema: "shop", name: "price", key: ["item"], comment: "Prices.", part, rolledBackIn: 0 },
  columns: [item, ...columns]
})

const makeFile = (digit: string): LakeFile => ({
  file: `/tmp/${digit}`,
  object: { sha256: digit.repeat(64), bytes: 100 },
  rows: 1,
  stats: '{"numRecords":1}'
})
const pathOf = (version: number, digit: string) => `${String(version).padStart(20, "0")}-${digit.repeat(64)}.parquet`

const day = 86_400_000
interface Step {
  readonly files: string
  readonly table?: GenerationTable | undefined
  readonly day?: number
}
/** Applies generations with these files, named by one digit each. Throws if one of them changes nothing. */
const writeVersions = (...steps: ReadonlyArray<Step>) => {
  let last: Version | undefined
  for (const [index, step] of steps.entries()) {
    const next = changeVersion(last, index + 1, step)
    if (next === undefined) throw new Error(`step ${index} changes nothing`)
    last = next.version
  }
  if (last === undefined) throw new Error("there is no step")
  return last
}
const changeVersion = (last: Version | undefined, number: number, step: Step) => {
  const timestamp = (step.day ?? number) * day
  return nextVersion(last, {
    manifest: makeManifest(number),
    table: "table" in step ? step.table : makeTable(`part ${number}`),
    files: [...step.files].map(makeFile),
    timestamp,
    deletedBefore: timestamp - 7 * day
  })
}

/** The files that the lines of a commit add and remove. */
const listChanges = (version: Version) => {
  const actions: ReadonlyArray<{
    readonly add?: { readonly path: string; readonly dataChange: boolean }
    readonly remove?: { readonly path: string }
  }> = formatCommit(version)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  return {
    added: actions.flatMap(({ add }) => (add === undefined ? [] : [[add.path, add.dataChange]])),
    removed: actions.flatMap(({ remove }) => (remove === undefined ? [] : [remove.path]))
  }
}

describe("the next version of a table", () => {
  it("replaces changed files, and adds the other ones again without a change of data", () => {
    const version = writeVersions({ files: "ab" }, { files: "bc" })
    assert.deepStrictEqual(listChanges(version), {
      added: [
        [pathOf(0, "b"), false],
        [pathOf(1, "c"), true]
      ],
      removed: [pathOf(0, "a")]
    })
    assert.strictEqual(version.info.userMetadata, "larder-000002")
  })
  it("does not exist if rows and definition are those of the last one", () => {
    assert.isUndefined(changeVersion(writeVersions({ files: "ab" }), 2, { files: "ab" }))
  })
  it("has the same files if a rollback returned to them after the last one", () => {
    const last = writeVersions({ files: "a" })
    const table = { ...makeTable("part 1"), rolledBackIn: 3 }
    const next = changeVersion(last, 3, { files: "a", table })?.version
    assert.deepStrictEqual(next && listChanges(next), { added: [[pathOf(0, "a"), false]], removed: [] })
    assert.isUndefined(changeVersion(next, 4, { files: "a", table }))
  })
  it("has the same files if only the definition differs", () => {
    const table = makeTable("part 1", { name: "note", type: "VARCHAR", comment: null })
    const version = writeVersions({ files: "a" }, { files: "a", table })
    assert.deepStrictEqual(listChanges(version), { added: [[pathOf(0, "a"), false]], removed: [] })
    assert.include(version.metaData.schemaString, '"note"')
  })
  it("gives a file that comes back a new name, because the old one is to be deleted", () => {
    const version = writeVersions({ files: "a" }, { files: "b" }, { files: "a" })
    assert.deepStrictEqual(listChanges(version), { added: [[pathOf(2, "a"), true]], removed: [pathOf(1, "b")] })
  })
  it("has no rows and the last definition if the generation lacks the table", () => {
    const before = writeVersions({ files: "a" })
    const version = writeVersions({ files: "a" }, { files: "", table: undefined })
    assert.deepStrictEqual(listChanges(version), { added: [], removed: [pathOf(0, "a")] })
    assert.strictEqual(version.metaData.schemaString, before.metaData.schemaString)
  })
  it("lists the removed files until they are a week old", () => {
    const steps = [{ files: "a" }, { files: "b" }, { files: "c" }]
    const listRemoved = (version: Version) => version.info.larder.removed.map(({ path }) => path)
    assert.deepStrictEqual(listRemoved(writeVersions(...steps, { files: "d", day: 9 })), [
      pathOf(0, "a"),
      pathOf(1, "b"),
      pathOf(2, "c")
    ])
    assert.deepStrictEqual(listRemoved(writeVersions(...steps, { files: "d", day: 10 })), [
      pathOf(1, "b"),
      pathOf(2, "c")
    ])
  })
})

describe("the text of a commit", () => {
  it("is read back as the same version", () => {
    const version = writeVersions({ files: "ab" }, { files: "bc" })
    assert.deepStrictEqual(parseVersion(1, formatCommit(version)), version)
  })
  it("requires a reader for times without a zone only if a column has such times", () => {
    const [, withoutTimes] = formatCommit(writeVersions({ files: "a" })).split("\n")
    assert.strictEqual(withoutTimes, '{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}')
    const table = makeTable("part", { name: "seen_at", type: "STRUCT(first TIMESTAMP)[]", comment: null })
    const [, withTimes = ""] = formatCommit(writeVersions({ files: "a", table })).split("\n")
    assert.include(withTimes, '"readerFeatures":["timestampNtz"]')
  })
  it("is not recognised if another program wrote it", () => {
    const commitInfo = { timestamp: 1, operation: "WRITE", engineInfo: "Spark", userMetadata: "larder-000001" }
    for (const text of ["", "{}", JSON.stringify({ commitInfo }), `${JSON.stringify({ commitInfo })}\n{"add":{}}`])
      assert.isUndefined(parseVersion(0, text), text)
  })
})

describe("a checkpoint", () => {
  it("has all files, and the removed ones that are not deleted yet", () => {
    const lines = formatCheckpoint(writeVersions({ files: "ab" }, { files: "b" }, { files: "bc" }))
    const paths = [...lines.matchAll(/"(add|remove)":\{"path":"0*(\d-\w)/g)].map(
      ([, action, path]) => `${action} ${path}`
    )
    assert.deepStrictEqual(paths, ["remove 0-a", "add 0-b", "add 2-c"])
    assert.notInclude(lines, '"dataChange":true,"stats"')
  })
})

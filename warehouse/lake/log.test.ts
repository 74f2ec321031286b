import { assert, describe, it } from "@effect/vitest"
import type { Manifest } from "../generation/manifest.ts"
import { toActions } from "./checkpoint.ts"
import type { LakeFile } from "./files.ts"
import type { LakeTable } from "./generation-tables.ts"
import { type Action, formatActions, nextCommit, parseActions, replay, type Version } from "./log.ts"
import { toDeltaField } from "./types.ts"

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
const makeTable = (part: string, ...columns: LakeTable["columns"]): LakeTable => ({
  ...{ schema: "shop", name: "price", key: ["item"], comment: "Prices.", part },
  columns: [item, ...columns]
})

const makeFile = (digit: string): LakeFile => ({
  file: `/tmp/${digit}`,
  object: { sha256: digit.repeat(64), bytes: 100 },
  stats: '{"numRecords":1}'
})
const pathOf = (version: number, digit: string) => `${String(version).padStart(20, "0")}-${digit.repeat(64)}.parquet`

interface Step {
  readonly files: string
  readonly table?: LakeTable
}
/** Writes generations with these files, named by one digit each. Returns the actions of the last one, and the state. */
const write = (...steps: ReadonlyArray<Step>) => {
  let last: Version | undefined
  let actions: ReadonlyArray<Action> = []
  for (const [index, { files, table = makeTable(`part ${index}`) }] of steps.entries()) {
    const change = { manifest: makeManifest(index + 1), table, files: [...files].map(makeFile), timestamp: index }
    actions = nextCommit(last, change).actions
    last = replay(last, index, actions)
  }
  return { actions, version: last ?? assert.fail("there is no step") }
}

/** The files that a commit adds and removes, and what else it has. */
const listChanges = (actions: ReadonlyArray<Action>) => ({
  added: actions.flatMap(({ add }) => (add === undefined ? [] : [add.path])),
  removed: actions.flatMap(({ remove }) => (remove === undefined ? [] : [remove.path])),
  others: actions.flatMap(({ commitInfo, metaData }) => [
    ...(commitInfo ? ["info"] : []),
    ...(metaData ? ["definition"] : [])
  ])
})

describe("the next commit of a table", () => {
  it("has the new and the removed files, and none that stays", () => {
    const { actions, version } = write({ files: "ab" }, { files: "bc" })
    assert.deepStrictEqual(listChanges(actions), {
      added: [pathOf(1, "c")],
      removed: [pathOf(0, "a")],
      others: ["info"]
    })
    assert.deepStrictEqual([...version.files.keys()], [pathOf(0, "b"), pathOf(1, "c")])
    assert.strictEqual(version.info.userMetadata, "larder-000002")
  })
  it("does not become longer with the number of files that were removed before", () => {
    const formatLast = (...files: ReadonlyArray<string>) =>
      formatActions(write(...files.map((files) => ({ files }))).actions).length
    assert.strictEqual(formatLast("a", "b", "c", "d", "a", "b", "c", "d"), formatLast("a", "b"))
  })
  it("names the generation even if rows and definition are those of the last one", () => {
    const { actions, version } = write({ files: "ab" }, { files: "ab" })
    assert.deepStrictEqual(listChanges(actions), { added: [], removed: [], others: ["info"] })
    assert.strictEqual(version.info.larder.part, "part 1")
  })
  it("has the definition if it differs", () => {
    const table = makeTable("part 1", { name: "note", type: "VARCHAR", comment: null })
    const { actions, version } = write({ files: "a" }, { files: "a", table })
    assert.deepStrictEqual(listChanges(actions), { added: [], removed: [], others: ["info", "definition"] })
    assert.include(version.metaData.schemaString, '"note"')
  })
  it("gives a file that comes back a new name, because the old one is to be deleted", () => {
    const { added, removed } = listChanges(write({ files: "a" }, { files: "b" }, { files: "a" }).actions)
    assert.deepStrictEqual({ added, removed }, { added: [pathOf(2, "a")], removed: [pathOf(1, "b")] })
  })
})

describe("the text of a commit", () => {
  const parse = (text: string) => parseActions(text.trimEnd().split("\n"))

  it("is read back as the same actions", () => {
    const { actions } = write({ files: "ab" }, { files: "bc" })
    assert.deepStrictEqual(parse(formatActions(actions)), actions)
  })
  it("requires a reader for times without a zone only if a column has such times", () => {
    const [, withoutTimes] = formatActions(write({ files: "a" }).actions).split("\n")
    assert.strictEqual(withoutTimes, '{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}')
    const table = makeTable("part", { name: "seen_at", type: "STRUCT(first TIMESTAMP)[]", comment: null })
    const [, withTimes = ""] = formatActions(write({ files: "a", table }).actions).split("\n")
    assert.include(withTimes, '"readerFeatures":["timestampNtz"]')
  })
  it("is not recognised if another program wrote it", () => {
    const commitInfo = { timestamp: 1, operation: "WRITE", engineInfo: "Spark", userMetadata: "larder-000001" }
    for (const text of ["", JSON.stringify({ commitInfo }), `${JSON.stringify({ commitInfo })}\n{"add":{}}`])
      assert.isUndefined(parse(text), text)
    assert.isUndefined(replay(undefined, 0, parse("{}") ?? []))
  })
})

describe("a checkpoint", () => {
  it("has all files, and the removed ones that are not deleted yet", () => {
    const { version } = write({ files: "ab" }, { files: "b" }, { files: "c" })
    assert.deepStrictEqual(listChanges(toActions(version, 2)), {
      added: [pathOf(2, "c")],
      removed: [pathOf(0, "b")],
      others: ["definition"]
    })
    assert.notInclude(formatActions(toActions(version, 2)), '"dataChange":true,"stats"')
  })
})

describe("the type of a column", () => {
  it("is that of Delta, inside lists and structs too", () => {
    const { type } = toDeltaField("a", 'STRUCT("b c" VARCHAR, "d""" DECIMAL(18,6)[])[]', null)
    const field = (name: string, type: unknown) => ({ name, type, nullable: true, metadata: {} })
    const list = (elementType: unknown) => ({ type: "array", elementType, containsNull: true })
    assert.deepStrictEqual<unknown>(
      type,
      list({ type: "struct", fields: [field("b c", "string"), field('d"', list("decimal(18,6)"))] })
    )
  })
  it.each(["HUGEINT", "TIMESTAMP WITH TIME ZONE", "VARCHAR[3]", "STRUCT(a UUID)", "MAP(VARCHAR, VARCHAR)"])(
    "is refused if it is %s",
    (type) => {
      assert.throws(() => toDeltaField("a", type, null), /does not support columns of the type/)
    }
  )
})

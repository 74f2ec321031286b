import { assert, describe, it } from "@effect/vitest"
import type { Version } from "./log.ts"
import { checkpointName, commitName, fileName, type StoredFile } from "./names.ts"
import { listUnneeded } from "./retention.ts"

const day = 86_400_000
const table = "shop.price"
const rowsPath = (version: number, digit: string) => `${String(version).padStart(20, "0")}-${digit.repeat(64)}.parquet`

/** Version 5 has file b of version 3, and removed file a of version 2 on day 100. */
const version: Version = {
  number: 5,
  info: { userMetadata: "larder-000009", larder: { manifest: "id", part: "part" } },
  metaData: { id: "id", createdTime: 0, schemaString: "{}" },
  files: new Map([[rowsPath(3, "b"), { path: rowsPath(3, "b") }]]),
  removed: new Map([[rowsPath(2, "a"), { path: rowsPath(2, "a"), deletionTimestamp: 100 * day }]])
}

const rows = (version: number, digit: string) => {
  const path = rowsPath(version, digit)
  return { kind: "rows", table, name: fileName(table, path), path, version, storedAt: 0 } as const
}
const commit = (version: number, storedOn: number) =>
  ({ kind: "commit", table, name: commitName(table, version), path: "", version, storedAt: storedOn * day }) as const
const checkpoint = (version: number, storedOn: number) =>
  ({ ...commit(version, storedOn), kind: "checkpoint", name: checkpointName(table, version) }) as const

const listOn = (today: number, ...files: ReadonlyArray<StoredFile>) => listUnneeded(files, version, today * day)

describe("files of rows that no reader needs", () => {
  it("are those that a version removed a week ago", () => {
    assert.deepStrictEqual(listOn(107, rows(2, "a"), rows(3, "b")), [])
    assert.deepStrictEqual(listOn(108, rows(2, "a"), rows(3, "b")), [fileName(table, rowsPath(2, "a"))])
  })
  it("are those that no version names, unless a version to come may name them", () => {
    assert.deepStrictEqual(listOn(100, rows(1, "c"), rows(5, "d"), rows(6, "e")), [
      fileName(table, rowsPath(1, "c")),
      fileName(table, rowsPath(5, "d"))
    ])
  })
})

describe("files of a log that no reader needs", () => {
  const commits = [commit(0, 10), commit(1, 20), commit(2, 30), commit(3, 99), commit(4, 100), commit(5, 100)]
  it("are the versions before the last checkpoint from which all versions of the last 30 days can be read", () => {
    assert.deepStrictEqual(listOn(120, ...commits, checkpoint(0, 10), checkpoint(2, 30), checkpoint(4, 100)), [
      commitName(table, 0),
      commitName(table, 1),
      checkpointName(table, 0)
    ])
  })
  it("do not exist without a checkpoint", () => {
    assert.deepStrictEqual(listOn(500, ...commits), [])
  })
  it("are all before the newest checkpoint if the log has not changed for 30 days", () => {
    assert.deepStrictEqual(
      listOn(500, ...commits, checkpoint(4, 100)),
      [0, 1, 2, 3].map((number) => commitName(table, number))
    )
  })
})

import { statSync, writeFileSync } from "node:fs"
import { totalmem } from "node:os"
import { assert, describe } from "@effect/vitest"
import { itLive } from "@larder/test/support/it-live.ts"
import { otherProcess } from "@larder/test/support/warehouse/other-process.ts"
import { Cause, Duration, Effect, Exit, Fiber, FileSystem, Path, Schema } from "effect"
import { type Cell, DuckDb, FileInUse, identifier, literal, NotADatabase } from "./duckdb.ts"

const aFile = (name = "a.duckdb") =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    return path.join(yield* fs.makeTempDirectoryScoped({ prefix: "larder-test-" }), name)
  })
const Answer = Schema.Struct({ answer: Schema.Int })
const slow = "select sum(sin(a.range * b.range)) from range(1000000) a, range(100000) b"

const readOnlyFile = Effect.gen(function* () {
  const file = yield* aFile()
  yield* Effect.scoped(Effect.flatMap(DuckDb.readWrite(file), (db) => db.run("create table t as select 1 as i")))
  return yield* DuckDb.readOnly(file)
})

describe("parameters", () => {
  itLive("are bound by name, even if a statement is used again", () =>
    Effect.gen(function* () {
      const db = yield* readOnlyFile
      const sql = "select ($a::integer + $b::integer)::integer as answer"
      assert.deepStrictEqual(yield* db.all(Answer, sql, { a: 40, b: 2 }), [{ answer: 42 }])
      assert.deepStrictEqual(yield* db.all(Answer, sql, { b: 1, a: 2 }), [{ answer: 3 }])
    })
  )
  itLive("fail when one is missing, even if an earlier call bound it", () =>
    Effect.gen(function* () {
      const db = yield* readOnlyFile // caches prepared statements
      const sql = "select ($a::integer + $b::integer)::integer as answer"
      for (let connection = 0; connection < 8; connection++) yield* db.all(Answer, sql, { a: 40, b: 2 })
      const error = yield* Effect.flip(db.all(Answer, sql, { a: 1 }))
      assert.match(error.message, /Values were not provided for the following prepared statement parameters: b/)
    })
  )
  itLive("fail when the statement does not have them", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      const error = yield* Effect.flip(db.rows("select $a as a", { a: 1, c: 2 }))
      assert.match(error.message, /bind parameter/)
      assert.notInclude(error.message, "select")
    })
  )
  itLive("keep quotes in names and values from changing a statement", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      const text = `it's "quoted"; drop table x --`
      yield* db.run(`create table ${identifier('a "name"')} as select ${literal(text)} as label`)
      assert.deepStrictEqual(yield* db.rows(`from ${identifier('a "name"')} where label = $label`, { label: text }), [
        { label: text }
      ])
    })
  )
})

describe("rows", () => {
  itLive("are a defect when they do not fit the schema", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      const exit = yield* Effect.exit(db.all(Answer, "select 'text' as answer"))
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
    })
  )
  itLive("are up to date when the same statement runs again", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.readWrite(yield* aFile())
      yield* db.run("create table t (i integer)")
      const sql = "select count(*)::integer as answer from t where i > 50"
      assert.deepStrictEqual(yield* db.all(Answer, sql), [{ answer: 0 }])
      yield* db.run("insert into t select range from range(100)")
      assert.deepStrictEqual(yield* db.all(Answer, sql), [{ answer: 49 }])
      yield* db.run("delete from t where i > 60")
      assert.deepStrictEqual(yield* db.all(Answer, sql), [{ answer: 10 }])
    })
  )
  itLive("keep every digit of a decimal, and return a day as YYYY-MM-DD", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      assert.deepStrictEqual(yield* db.rows("select 1.6140::decimal(18, 4) as d, date '0024-02-29' as day"), [
        { d: "1.6140", day: "0024-02-29" }
      ])
    })
  )
})

describe("run", () => {
  itLive("leaves no transaction open after a failure", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.readWrite(yield* aFile())
      yield* db.run("create table t (i integer not null)")
      const error = yield* Effect.flip(db.run("begin; insert into t values (1); insert into t values (null); commit"))
      assert.match(error.message, /NOT NULL constraint failed/)
      yield* db.run("insert into t values (2)")
      assert.deepStrictEqual(yield* db.rows("from t"), [{ i: 2 }])
    })
  )
})

describe("append", () => {
  const table = `create schema s; create table s.t (
    whole bigint, small integer, fraction double, price decimal(18, 6), label varchar, day date, moment timestamp,
    flag boolean, data json)`
  const good: ReadonlyArray<Cell> = [
    9007199254740991,
    -5,
    0.5,
    "1.614000",
    "a\u0000ü€😀",
    "2026-02-28",
    "2026-02-28T23:59:59.123Z",
    true,
    '{"a":[1]}'
  ]
  const read = "select * replace (whole::varchar as whole, small::varchar as small) from s.t"
  const expected = {
    whole: "9007199254740991",
    small: "-5",
    fraction: 0.5,
    price: "1.614000",
    label: "a\u0000ü€😀",
    day: "2026-02-28",
    moment: "2026-02-28 23:59:59.123",
    flag: true,
    data: '{"a":[1]}'
  }
  const withCell = (column: number, cell: Cell) => good.map((original, index) => (index === column ? cell : original))

  itLive("accepts strings, numbers, booleans and nulls for every type of column", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* db.run(table)
      yield* db.append("s", "t", [good, good.map(() => null), withCell(2, 3)])
      assert.deepStrictEqual(yield* db.rows(read), [
        expected,
        Object.fromEntries(Object.keys(expected).map((column) => [column, null])),
        { ...expected, fraction: 3 }
      ])
    })
  )
  for (const [fault, row, message] of [
    ["a day that does not exist", withCell(5, "2026-02-30"), /2026-02-30/],
    ["a string that is not a number", withCell(3, "N/A"), /"N\/A"/],
    ["a number that is too large for its column", withCell(1, 3_000_000_000), /out of range/],
    [
      "a fraction for a column of whole numbers",
      withCell(1, 3.7),
      /column 2 accepts whole numbers, but 3.7 is not one/
    ],
    ["a missing cell", good.slice(0, -1), /before all columns/],
    ["an additional cell", [...good, 1], /Too many/]
  ] as const) {
    itLive(`appends no row of a batch with ${fault}, and appends the next batch`, () =>
      Effect.gen(function* () {
        const db = yield* DuckDb.readWrite(yield* aFile())
        yield* db.run(table)
        const error = yield* Effect.flip(db.append("s", "t", [good, good, row, good]))
        assert.match(error.message, message)
        assert.match(error.message, /append to s\.t/)
        assert.deepStrictEqual(yield* db.rows(read), [])
        yield* db.append("s", "t", [good])
        assert.deepStrictEqual(yield* db.rows(read), [expected])
      })
    )
  }
  itLive("fails for a missing table, and names it", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      assert.match((yield* Effect.flip(db.append("main", "nowhere", [[1]]))).message, /nowhere/)
    })
  )
  itLive("keeps 100,000 rows", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.memory
      yield* db.run("create table t (i integer)")
      yield* db.append(
        "main",
        "t",
        Array.from({ length: 100_000 }, (_, i) => [i])
      )
      assert.deepStrictEqual(yield* db.all(Answer, "select count(distinct i)::integer as answer from t"), [
        { answer: 100_000 }
      ])
    })
  )
})

describe("interruption", () => {
  itLive("stops a query, and its connection runs the next one", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.readWrite(yield* aFile()) // one connection
      const query = yield* Effect.forkChild(db.rows(slow))
      yield* Effect.sleep("50 millis")
      yield* Fiber.interrupt(query)
      assert.deepStrictEqual(yield* db.all(Answer, "select 42 as answer"), [{ answer: 42 }])
    }).pipe(Effect.timeout(Duration.seconds(30)))
  )
  itLive("stops a query that has not begun yet", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.readWrite(yield* aFile())
      yield* db.run("select 1") // opens the connection, so that the query starts immediately
      const query = yield* Effect.forkChild(db.run(slow), { startImmediately: true })
      yield* Fiber.interrupt(query)
      assert.deepStrictEqual(yield* db.all(Answer, "select 42 as answer"), [{ answer: 42 }])
    }).pipe(Effect.timeout(Duration.seconds(30)))
  )
  itLive("leaves no transaction open", () =>
    Effect.gen(function* () {
      const db = yield* DuckDb.readWrite(yield* aFile())
      yield* db.run("create table t (i integer)")
      const query = yield* Effect.forkChild(db.run(`begin; insert into t values (1); ${slow}; commit`))
      yield* Effect.sleep("50 millis")
      yield* Fiber.interrupt(query)
      yield* db.run("insert into t values (2)")
      assert.deepStrictEqual(yield* db.rows("from t"), [{ i: 2 }])
    }).pipe(Effect.timeout(Duration.seconds(30)))
  )
})

describe("a read-only database", () => {
  for (const sql of [
    "select * from read_text('/etc/hostname')",
    "select * from read_csv('https://example.test/a.csv')",
    "copy t to '/tmp/larder-test-out.csv'",
    "attach '/tmp/larder-test-other.duckdb' as other",
    "install httpfs",
    "load httpfs",
    "set memory_limit = '100GB'",
    "set enable_external_access = true",
    "insert into t values (2)",
    "create table u (i integer)"
  ]) {
    itLive(`rejects ${sql}`, () =>
      Effect.gen(function* () {
        const db = yield* readOnlyFile
        yield* Effect.flip(db.run(sql))
        assert.deepStrictEqual(yield* db.rows("from t"), [{ i: 1 }])
      })
    )
  }
  itLive("uses less than half of the machine's memory", () =>
    Effect.gen(function* () {
      const db = yield* readOnlyFile
      const sql = "select value from duckdb_settings() where name = 'memory_limit'"
      const [row] = yield* db.all(Schema.Struct({ value: Schema.String }), sql)
      const [, size, unit] = /^([\d.]+) ([KMGT])iB$/.exec(row?.value ?? "") ?? []
      const bytes = Number(size) * 1024 ** (" KMGT".indexOf(unit ?? "") || 1)
      assert.isBelow(bytes, totalmem() / 2)
    })
  )
})

describe("a database file", () => {
  itLive("is in use while a process has it open, and free as soon as the process closes it or is killed", () =>
    Effect.gen(function* () {
      const file = yield* aFile()
      yield* Effect.scoped(
        Effect.gen(function* () {
          const db = yield* DuckDb.readWrite(file)
          yield* db.run("create table t (i integer)")
          yield* db.append("main", "t", [[1]])
          yield* Effect.flip(db.append("main", "t", [["x"]]))
          yield* db.rows("from t where i = $i", { i: 1 })
          yield* Effect.flip(db.rows("from nowhere"))
        })
      )
      const other = yield* otherProcess({ do: "hold", file })
      assert.strictEqual(yield* other.nextLine, "held")
      for (const open of [DuckDb.readWrite(file), DuckDb.readOnly(file)]) {
        const error = yield* Effect.flip(Effect.scoped(open))
        assert.instanceOf(error, FileInUse)
        assert.strictEqual(error.message, `${file} is in use by another process`)
      }
      yield* other.kill("SIGKILL")
      yield* Effect.scoped(DuckDb.readWrite(file))
    })
  )
  for (const [description, content] of [
    ["plain text", "hello ".repeat(5000)],
    ["nothing", ""],
    ["the beginning of a database", undefined]
  ] as const) {
    itLive(`is rejected if it contains ${description}, and does not change`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const file = yield* aFile()
        yield* Effect.scoped(Effect.flatMap(DuckDb.readWrite(file), (db) => db.run("create table t (i integer)")))
        if (content === undefined) yield* fs.truncate(file, 5000)
        else writeFileSync(file, content)
        const { size } = statSync(file)
        for (const open of [DuckDb.readWrite(file), DuckDb.readOnly(file)]) {
          const error = yield* Effect.flip(Effect.scoped(open))
          assert.instanceOf(error, NotADatabase)
          assert.match(error.message, /^\S+a\.duckdb cannot be opened as a DuckDB database: IO Error/)
        }
        assert.strictEqual(statSync(file).size, size)
      })
    )
  }
  itLive("is not created by an attempt to read it", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = yield* aFile()
      assert.instanceOf(yield* Effect.flip(Effect.scoped(DuckDb.readOnly(file))), NotADatabase)
      assert.isFalse(yield* fs.exists(file))
    })
  )
  itLive("is created completely or not at all if the disk is full", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const file = yield* aFile()
      const other = yield* otherProcess({ do: "hold", file }, "trap '' XFSZ; ulimit -f 8") // 4 kB of the 12 kB of an empty database
      const { code, stderr } = yield* other.ended
      assert.strictEqual(code, 1)
      assert.match(stderr, /File too large/)
      assert.deepStrictEqual(yield* fs.readDirectory(path.dirname(file)), [])
      yield* Effect.scoped(DuckDb.readWrite(file))
    })
  )
})

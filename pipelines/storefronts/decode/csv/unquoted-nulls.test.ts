import { assert, describe, it } from "@effect/vitest"
import { yieldAll } from "@larder/test/support/pipelines/file-feeds.ts"
import { readRecords } from "./table-records.ts"

/** The cells of the last record of a file with these lines. */
const readLast = async (lines: ReadonlyArray<string>, newline = "\n") => {
  let last: ReadonlyArray<string> = []
  for await (const records of readRecords(yieldAll(lines.join(newline) + newline))) last = records.at(-1)?.cells ?? last
  return last
}

const quotedHeader = '"id","title","price","brand","size"'
const plainHeader = "id,title,price,brand,size"
const quoted = '1,"Tea",4.50,"Leaf","S"'

describe("NA and NULL without quotes in a CSV", () => {
  it.each([
    ["are no value if the names in the header are quoted", [quotedHeader, "2,NA,9.9,NULL,NA"]],
    ["are no value if the texts of an earlier record are quoted", [plainHeader, quoted, "2,NA,9.9,NULL,NA"]],
    ["are no value next to a text that is quoted", [plainHeader, '2,NA,9.9,NULL,"NA"', "2,NA,9.9,NULL,NA"]]
  ])("%s", async (_, lines) => {
    const [, title, price, brand] = await readLast(lines)
    assert.deepStrictEqual([title, price, brand], ["", "9.9", ""])
  })

  it.each(["TRUE", "false", "1e+05", "-1.5E-3", "Inf", "NaN", "2026-03-02", "2026-03-02T10:00:00Z"])(
    "are no value next to an unquoted %s, which is not a text",
    async (cell) => {
      assert.deepStrictEqual(await readLast([quotedHeader, `2,"Tea",9.9,NA,${cell}`]), ["2", "Tea", "9.9", "", cell])
    }
  )

  it.each([
    ["are texts if nothing is quoted", [plainHeader, "1,Tea,4.50,Leaf,S"]],
    ["are texts if the file has shown no other text", [plainHeader, "1,NA,4.50,NULL,NA"]],
    ["are texts if only some names of the header are quoted", ['id,title,"price, net",brand,size']],
    ["are texts after a text without quotes, whatever the header is", [quotedHeader, '1,Tea,4.50,"Leaf","S"']],
    ["are texts after a text without quotes, even if later ones are quoted", [plainHeader, "1,Tea,,,", quoted]]
  ])("%s", async (_, lines) => {
    assert.deepStrictEqual(await readLast([...lines, "2,NA,9.9,NULL,NA"]), ["2", "NA", "9.9", "NULL", "NA"])
  })

  it("are texts in the header and with quotes", async () => {
    assert.deepStrictEqual(await readLast(['"id",NA']), ["id", "NA"])
    assert.deepStrictEqual(await readLast([quotedHeader, '2,"NA",9.9,"NULL",NA']), ["2", "NA", "9.9", "NULL", ""])
  })

  it("are found behind doubled quotes and separators, and in the last cell of a CRLF line", async () => {
    assert.deepStrictEqual(await readLast([quotedHeader, '2,"a ""b"", c",NULL,NA,NA'], "\r\n"), [
      "2",
      'a "b", c',
      "",
      "",
      ""
    ])
  })
})

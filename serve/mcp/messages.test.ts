import { assert, describe, it } from "@effect/vitest"
import { readMessage } from "./messages.ts"

const findProblem = (text: string) => {
  const result = readMessage(text)
  return "problem" in result ? result.problem : undefined
}
const nest = (levels: number, [open, close]: readonly [string, string]) => open.repeat(levels) + close.repeat(levels)

describe("the text of a message", () => {
  it.each([
    '{"jsonrpc":"2.0","id":1,"params":{"name":"a","arguments":{"id":"a","limit":1.5e3}}}',
    '[{"id":1},{"id":1}]',
    '{"a":"b","b":"a","c":["a","a"],"d":{"a":1}}',
    '{"a":"\\"a\\":","b":"{[{[","c\\\\":1,"c":2}',
    '"__proto__"',
    '{"a":"__proto__"}',
    " null "
  ])("reads %s unchanged", (text) => {
    assert.deepStrictEqual(readMessage(text), { message: JSON.parse(text) })
  })
  it.each([
    ['{"a":1,"a":2}', "Repeated member: a"],
    ['{"a":1 , "\\u0061"\n: 2}', "Repeated member: a"],
    ['{"arguments":{"limit":1,"x":{"limit":1},"limit":2}}', "Repeated member: limit"],
    ['[{"\\"":1,"b":[{}],"\\"":2}]', 'Repeated member: "'],
    ['{"__proto__":{}}', "a member is named __proto__"],
    ['{"a":[{"\\u005f_proto__":1}]}', "a member is named __proto__"],
    ['{"limit":1e400}', "a number in it is too large"],
    ["{", "it is not JSON"],
    ["", "it is not JSON"],
    ['{"a":1}{"a":1}', "it is not JSON"]
  ])("rejects %s with the problem: %s", (text, problem) => assert.strictEqual(findProblem(text), problem))
  it("rejects a message that is nested more than 64 levels deep", () => {
    for (const brackets of [
      ["[", "]"],
      ['{"a":[', "]}"]
    ] as const) {
      const levelsPerPair = brackets[0].length > 1 ? 2 : 1
      assert.isUndefined(findProblem(nest(64 / levelsPerPair, brackets)))
      for (const levels of [66, 2_200, 100_000])
        assert.strictEqual(findProblem(nest(levels / levelsPerPair, brackets)), "it is nested more than 64 levels deep")
    }
    assert.strictEqual(findProblem(`[${nest(64, ["[", "]"])}]`), "it is nested more than 64 levels deep")
  })
  it("returns the id of a rejected message, if it has one", () => {
    for (const [id, expected] of [
      ["7", 7],
      ['"x"', "x"],
      ["[]", null]
    ] as const) {
      assert.propertyVal(readMessage(`{"id":${id},"a":1,"a":2}`), "id", expected)
    }
    assert.propertyVal(readMessage('[{"id":1,"id":2}]'), "id", null)
  })
  it("accepts strings of any length", () => {
    assert.isUndefined(findProblem(JSON.stringify({ a: '\\"'.repeat(100_000), b: "x".repeat(200_000) })))
  })
})

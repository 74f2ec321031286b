import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Logger } from "effect"
import { visible, visibleConsole, visibleInLine } from "./terminal.ts"

const controls = "\u001b]0;title\u0007 \u009b31m \u007f \r \u202eabc\u2066"
const escaped = "\\u001b]0;title\\u0007 \\u009b31m \\u007f \\u000d \\u202eabc\\u2066"

describe("text for a terminal", () => {
  it("escapes control characters and bidirectional controls as JSON does", () => {
    assert.strictEqual(visible(controls), escaped)
    assert.strictEqual(visibleInLine(`${controls}\n\t.`), `${escaped}\\u000a\\u0009.`)
  })

  it("escapes every control character", () => {
    const characters = Array.from({ length: 160 }, (_, code) => String.fromCharCode(code)).join("")
    assert.strictEqual(visible(characters).replace(/[\n\t -~\u00a0-\uffff]/g, ""), "")
    assert.strictEqual(
      JSON.parse(`"${visibleInLine(characters.replace(/["\\]/g, ""))}"`),
      characters.replace(/["\\]/g, "")
    )
  })

  it("does not change line breaks, tabs and letters of any language", () => {
    const text = "Käse\t鲜奶 🧀 שלום\nمرحبا \u200f100\u00a0%"
    assert.strictEqual(visible(text), text)
  })

  /** The output of an effect that uses the console in the same way as the programs. */
  const captureOutput = (effect: Effect.Effect<void>) =>
    Effect.suspend(() => {
      const lines: Array<string> = []
      const write = (...args: ReadonlyArray<unknown>) => lines.push(args.join(" "))
      const screen = { ...globalThis.console, log: write, error: write, group: () => {}, groupEnd: () => {} }
      return effect.pipe(
        Effect.provide(visibleConsole),
        Effect.provideService(Console.Console, screen),
        Effect.map(() => lines.join("\n"))
      )
    })

  it.effect("prints JSON that is parsed to the same value", () =>
    Effect.gen(function* () {
      const text = yield* captureOutput(Console.log(JSON.stringify({ name: controls })))
      assert.deepStrictEqual([JSON.parse(text), visible(text)], [{ name: controls }, text])
    })
  )

  it.effect.each([
    ["for people", Logger.consolePretty({ colors: false })],
    ["as JSON", Logger.withConsoleError(Logger.formatJson)]
  ] as const)("escapes the messages, annotations and causes of logs %s", ([_, logger]) =>
    Effect.gen(function* () {
      const text = yield* captureOutput(
        Effect.logWarning(`the read of ${controls} failed`, new Error(controls)).pipe(
          Effect.andThen(Effect.logError("a defect", new Error(`by ${controls}`))),
          Effect.annotateLogs({ store: controls, feeds: [controls] }),
          Effect.provide(Logger.layer([logger]))
        )
      )
      assert.include(text, "title\\u0007 \\u009b31m \\u007f")
      assert.strictEqual(visible(text), text)
    })
  )
})

import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { openMailer } from "./mailer.ts"

const mail = { to: "ada@example.com", id: "inv-1", subject: "A link", text: "https://console.example/x\n" }

/** What is printed for a mail. */
const print = (asJson: boolean) =>
  Effect.gen(function* () {
    const printed: Array<unknown> = []
    const log = (...texts: ReadonlyArray<unknown>) => void printed.push(...texts)
    const mailer = openMailer(undefined, { asJson, isLocal: true })
    yield* (mailer?.send(mail) ?? Effect.void).pipe(
      Effect.provideService(Console.Console, { ...globalThis.console, log })
    )
    return printed.join("\n")
  })

describe("without a mail server", () => {
  it.effect("mails are printed while only this machine reaches the server, as JSON for programs", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* print(false), "\nTo: ada@example.com\nSubject: A link\n\nhttps://console.example/x\n")
      const { id: _, ...printed } = mail
      assert.deepStrictEqual(JSON.parse(yield* print(true)), { mail: printed })
    })
  )

  it("there is no mailer if other machines may reach the server", () => {
    assert.isUndefined(openMailer(undefined, { asJson: false, isLocal: false }))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { type Answer, startReceiver, webhookSecret, webhookToken } from "@larder/test/support/webhook-receiver.ts"
import { ConfigProvider, Duration, Effect, Logger } from "effect"
import { makeCheckNotice } from "./notice.ts"
import { NoticeLimits, postNotice, postOrWarn, webhookFromSettings } from "./webhook.ts"

const notice = makeCheckNotice("2026-12-01T00:00:00.000Z")
const withSettings =
  (settings: Readonly<Record<string, string>>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provide(effect, ConfigProvider.layer(ConfigProvider.fromEnvRecord(settings)))

const post = Effect.gen(function* () {
  const webhook = yield* webhookFromSettings
  if (webhook === undefined) throw new Error("there is no webhook")
  yield* postNotice(webhook, notice)
})
const withTimeout = (timeout: Duration.Duration) =>
  Effect.provideService(NoticeLimits, { timeout, firstRetryInterval: Duration.zero, maxAttempts: 3 })
/** Posts to a receiver with these answers. Returns the error, if there is one, and what arrived. */
const postTo = (answers: ReadonlyArray<Answer>, timeout = Duration.minutes(1)) =>
  Effect.gen(function* () {
    const receiver = yield* Effect.promise(() => startReceiver(...answers))
    const result = yield* Effect.result(post).pipe(withTimeout(timeout), withSettings(receiver.settings))
    const problem = result._tag === "Failure" ? result.failure.message : undefined
    return { problem, ids: receiver.received.map(({ id }) => id), paths: receiver.paths, first: receiver.received[0] }
  })

describe("a notice that is posted", () => {
  it.live("is verified by the library of Standard Webhooks, and has its text beside its data", () =>
    Effect.gen(function* () {
      const { first, problem } = yield* postTo([204])
      assert.strictEqual(problem, undefined)
      const { timestamp, ...body }: Record<string, unknown> = { ...first }
      assert.deepStrictEqual(body, { ...notice, data: {} })
      assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    })
  )
  it.live("is repeated with the same id after a 500, and arrives", () =>
    Effect.gen(function* () {
      const { ids, problem } = yield* postTo([500, 503, 200])
      assert.deepStrictEqual([problem, ids], [undefined, [notice.id, notice.id, notice.id]])
    })
  )
  it.live("is given up after three attempts, and the error names neither the address nor the response", () =>
    Effect.gen(function* () {
      const { ids, problem } = yield* postTo([500])
      assert.deepStrictEqual([problem, ids.length], ["The address in LARDER_NOTIFY_URL answered with 500.", 3])
    })
  )
  it.live.each([
    [302, "answered with the redirect 302, which is not followed: set the final address"],
    [404, "answered with 404"]
  ] as const)("is not repeated, and not sent elsewhere, after a %d", ([status, text]) =>
    Effect.gen(function* () {
      const { paths, problem } = yield* postTo([status])
      assert.deepStrictEqual([problem, paths], [`The address in LARDER_NOTIFY_URL ${text}.`, [`/${webhookToken}`]])
    })
  )
  it.live("is given up after the time that someone waits, with one warning", () =>
    Effect.gen(function* () {
      const warnings: Array<unknown> = []
      const receiver = yield* Effect.promise(() => startReceiver("hang"))
      yield* Effect.gen(function* () {
        const webhook = yield* webhookFromSettings
        assert(webhook !== undefined)
        yield* postOrWarn(webhook, notice, Duration.millis(1))
      }).pipe(
        withTimeout(Duration.minutes(1)),
        withSettings(receiver.settings),
        Effect.provide(Logger.layer([Logger.make(({ message }) => warnings.push(message))]))
      )
      assert.deepStrictEqual(warnings.flat(), [
        "the notice was not delivered: The address in LARDER_NOTIFY_URL did not accept it within 1ms."
      ])
    })
  )
  it.live("does not wait for a receiver that never answers", () =>
    Effect.gen(function* () {
      const { problem } = yield* postTo(["hang"], Duration.millis(100))
      assert.strictEqual(problem, "The address in LARDER_NOTIFY_URL did not answer within 100ms.")
    })
  )
  it.live("fails without the address if nothing listens there", () =>
    Effect.gen(function* () {
      const receiver = yield* Effect.promise(() => startReceiver())
      receiver.stop()
      const { message } = yield* Effect.flip(post).pipe(
        withTimeout(Duration.minutes(1)),
        withSettings(receiver.settings)
      )
      assert.strictEqual(message, "The address in LARDER_NOTIFY_URL could not be reached (ECONNREFUSED).")
    })
  )
})

describe("the settings of notices", () => {
  const read = (settings: Readonly<Record<string, string>>) => webhookFromSettings.pipe(withSettings(settings))
  const hook = `https://hooks.example/${webhookToken}`

  it.effect("are optional, and empty ones count as unset", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* read({}), undefined)
      assert.strictEqual(yield* read({ LARDER_NOTIFY_URL: "", LARDER_NOTIFY_SECRET: "" }), undefined)
      const webhook = yield* read({ LARDER_NOTIFY_URL: hook })
      assert.strictEqual(webhook?.key, undefined)
      assert.notInclude(JSON.stringify(webhook), webhookToken)
    })
  )
  it.effect.each([
    [{ LARDER_NOTIFY_URL: `http://hooks.example/${webhookToken}` }, /must be https:\/\/…/],
    [{ LARDER_NOTIFY_URL: `hooks.example/${webhookToken}` }, /is not an address/],
    [{ LARDER_NOTIFY_URL: `https://me:${webhookToken}@hooks.example/` }, /must have no user, password or #/],
    [{ LARDER_NOTIFY_SECRET: webhookSecret }, /LARDER_NOTIFY_SECRET is set but LARDER_NOTIFY_URL is not/],
    [{ LARDER_NOTIFY_URL: hook, LARDER_NOTIFY_SECRET: "T0ken-B0t-5ecret" }, /must be whsec_ and 24 to 64 random bytes/],
    [{ LARDER_NOTIFY_URL: hook, LARDER_NOTIFY_SECRET: "whsec_c2hvcnQ=" }, /must be whsec_ and 24 to 64 random bytes/]
  ] as const)("are refused without being quoted: %s", ([settings, problem]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(settings))
      assert.match(error.cause.message, problem)
      assert.notInclude(String(error.cause), webhookToken)
    })
  )
})

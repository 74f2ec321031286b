/**
 * Posts notices to the operator's webhook, signed as https://www.standardwebhooks.com defines. The address is a secret,
 * because that of Slack contains its token: no error contains it, and none quotes a response, which may repeat it.
 */
import { createHmac } from "node:crypto"
import { failSetting, isSafeInTransit, version } from "@larder/schemas"
import { Clock, Config, Context, Duration, Effect, Option, Redacted, Schedule, Schema } from "effect"
import type { Notice } from "./notice.ts"

export interface Webhook {
  readonly url: Redacted.Redacted<URL>
  /** Without a key, the POST has no signature. */
  readonly key: Redacted.Redacted<Buffer> | undefined
}

/** Empty means unset. */
const secretSetting = (name: string) =>
  Config.option(Config.Redacted(name)).pipe(
    Config.map((value) => Option.getOrUndefined(Option.filter(value, (text) => Redacted.value(text) !== "")))
  )
const settings = Config.all({ url: secretSetting("LARDER_NOTIFY_URL"), secret: secretSetting("LARDER_NOTIFY_SECRET") })

/** Others could read the address in transit over http. */
const parseUrl = (text: Redacted.Redacted) => {
  const url = URL.parse(Redacted.value(text))
  if (url === null) return failSetting("LARDER_NOTIFY_URL is not an address: write https://…")
  if (url.username !== "" || url.password !== "" || url.hash !== "") {
    return failSetting("LARDER_NOTIFY_URL must have no user, password or #: put a token into its path or its query")
  }
  if (!isSafeInTransit(url))
    return failSetting("LARDER_NOTIFY_URL must be https://…; http:// is accepted only for this machine")
  return Effect.succeed(Redacted.make(url))
}

const parseSecret = (text: Redacted.Redacted) => {
  const [, encoded = ""] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(Redacted.value(text)) ?? []
  const key = Buffer.from(encoded, "base64")
  return key.length >= 24 && key.length <= 64
    ? Effect.succeed(Redacted.make(key))
    : failSetting(
        'LARDER_NOTIFY_SECRET must be whsec_ and 24 to 64 random bytes in base64. Make one with: echo "whsec_$(openssl rand -base64 32)"'
      )
}

/** The operator's webhook; undefined without one. */
export const webhookFromSettings = Effect.gen(function* () {
  const { secret, url } = yield* settings
  if (url === undefined && secret !== undefined) {
    return yield* failSetting("LARDER_NOTIFY_SECRET is set but LARDER_NOTIFY_URL is not: set both, or neither")
  }
  if (url === undefined) return undefined
  const key = secret === undefined ? undefined : yield* parseSecret(secret)
  return { url: yield* parseUrl(url), key } satisfies Webhook
})

export const NoticeLimits = Context.Reference("larder/warehouse/NoticeLimits", {
  defaultValue: () => ({
    /** For each attempt, until the status arrives. */
    timeout: Duration.seconds(10),
    firstRetryInterval: Duration.seconds(1),
    /** Including the first: all of them take half a minute at most. */
    maxAttempts: 3
  })
})

export class NoticeNotDelivered extends Schema.TaggedError<NoticeNotDelivered>()("NoticeNotDelivered", {
  /** What the address did, without a full stop. */
  problem: Schema.String,
  is_retryable: Schema.Boolean
}) {
  override get message() {
    return `The address in LARDER_NOTIFY_URL ${this.problem}.`
  }
}

/** Only the code: the texts of errors may contain the address. */
const connectionFailed = (error: unknown) => {
  const { cause }: { readonly cause?: { readonly code?: unknown } } = Object(error)
  const code = typeof cause?.code === "string" ? cause.code : "no code"
  return new NoticeNotDelivered({ problem: `could not be reached (${code})`, is_retryable: !code.includes("CERT") })
}

const requireSuccess = (status: number) => {
  if (status >= 200 && status < 300) return Effect.void
  const problem =
    status >= 300 && status < 400
      ? `answered with the redirect ${status}, which is not followed: set the final address`
      : `answered with ${status}`
  return Effect.fail(new NoticeNotDelivered({ problem, is_retryable: status >= 500 || [408, 429].includes(status) }))
}

const sign = (key: Buffer, content: string) => `v1,${createHmac("sha256", key).update(content).digest("base64")}`

const attempt = Effect.fnUntraced(function* ({ key, url }: Webhook, id: string, body: string) {
  const { timeout: duration } = yield* NoticeLimits
  const seconds = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const signature = key && sign(Redacted.value(key), `${id}.${seconds}.${body}`)
  const request = {
    method: "POST",
    redirect: "manual",
    body,
    headers: {
      "content-type": "application/json",
      "user-agent": `larder/${version}`,
      "webhook-id": id,
      "webhook-timestamp": String(seconds),
      ...(signature && { "webhook-signature": signature })
    }
  } as const
  const status = yield* Effect.tryPromise({
    try: async (signal) => {
      const response = await fetch(Redacted.value(url), { ...request, signal })
      await response.body?.cancel()
      return response.status
    },
    catch: connectionFailed
  }).pipe(
    Effect.timeoutOrElse({
      duration,
      orElse: () =>
        Effect.fail(
          new NoticeNotDelivered({
            problem: `did not answer within ${Duration.format(duration)}`,
            is_retryable: true
          })
        )
    })
  )
  yield* requireSuccess(status)
})

/** Succeeds when the address has accepted the notice. It may have accepted an attempt whose answer was lost. */
export const postNotice = Effect.fn("postNotice")(function* (webhook: Webhook, { id, ...notice }: Notice) {
  const { firstRetryInterval, maxAttempts } = yield* NoticeLimits
  const timestamp = new Date(yield* Clock.currentTimeMillis).toISOString()
  const { data, text, type } = notice
  yield* attempt(webhook, id, JSON.stringify({ type, timestamp, data, text })).pipe(
    Effect.retry({
      schedule: Schedule.exponential(firstRetryInterval),
      times: maxAttempts - 1,
      while: (error) => error.is_retryable
    })
  )
})

/** For all attempts together, while a person or a shutdown waits. */
export const promptly = Duration.seconds(5)

const limitTime = (within: Duration.Duration) =>
  Effect.timeoutOrElse({
    duration: within,
    orElse: () =>
      Effect.fail(
        new NoticeNotDelivered({ problem: `did not accept it within ${Duration.format(within)}`, is_retryable: true })
      )
  })

/** For a program whose result must not depend on the notice. `within` limits all attempts together. */
export const postOrWarn = (webhook: Webhook, notice: Notice, within?: Duration.Duration) =>
  postNotice(webhook, notice).pipe(
    (post) => (within === undefined ? post : limitTime(within)(post)),
    Effect.catchTag("NoticeNotDelivered", ({ message }) =>
      Effect.logWarning(`the notice was not delivered: ${message}`)
    )
  )

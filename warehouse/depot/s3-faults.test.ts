/** Faults between a depot and its service. */
import { createHash } from "node:crypto"
import { truncate, writeFile } from "node:fs/promises"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { aBucket, withClient, withQuickRetries } from "@larder/test/support/depots/networked.ts"
import { type Mishap, s3Service } from "@larder/test/support/depots/s3-service.ts"
import { itLive } from "@larder/test/support/it-live.ts"
import { Effect, Fiber, FileSystem, Option, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import { type Depot, objectName, putObject } from "./depot.ts"
import { type Bucket, s3Depot } from "./s3.ts"

const name = "generations/000000001.json"

const refuse = (status: number, code: string): Mishap => ({ kind: "refuse", status, code })
const misreport = (status: number, code: string): Mishap => ({ kind: "misreport", status, code })
const drop = (when: "before" | "after" | "half-way"): Mishap => ({ kind: "drop", when })

const text = "a part of a generation, long enough to be cut in the middle"
const aPart = Effect.gen(function* () {
  const folder = yield* FileSystem.FileSystem.use((fs) => fs.makeTempDirectoryScoped({ prefix: "larder-part-" }))
  const file = path.join(folder, "part")
  yield* Effect.promise(() => writeFile(file, text))
  return { file, object: { sha256: createHash("sha256").update(text).digest("hex"), bytes: text.length } }
})
const pause = Effect.promise(() => setTimeout(5))
/** Advances the clock until the fiber ends. */
const advanceUntilDone = Effect.fnUntraced(function* <A, E>(fiber: Fiber.Fiber<A, E>) {
  while (fiber.pollUnsafe() === undefined) yield* Effect.andThen(TestClock.adjust("1 second"), pause)
  return yield* Fiber.join(fiber)
})

const textOf = (depot: Depot, sha256: string, from = 0) =>
  Effect.map(Stream.runCollect(depot.readBytes(objectName(sha256), from)), (pieces) =>
    Buffer.concat([...pieces]).toString()
  )

describe("a text that is stored while responses are lost", () => {
  for (const [what, mishap] of [
    ["the connection is cut before the service stores it", drop("before")],
    ["the connection is cut after the service stored it", drop("after")],
    ["the service returned 500 without storing it", refuse(500, "InternalError")],
    ["the service returned 503 after storing it", misreport(503, "SlowDown")],
    ["the service returned 412 after storing it", misreport(412, "PreconditionFailed")],
    ["the service returned 409 without storing it", refuse(409, "ConditionalRequestConflict")]
  ] as const) {
    itLive(`is the first one if ${what}`, () =>
      Effect.gen(function* () {
        const { depot, service } = yield* aBucket
        service.plan("PUT", mishap)
        assert.isTrue(yield* depot.putText(name, "mine").pipe(withQuickRetries))
        assert.isFalse(yield* depot.putText(name, "another"))
        assert.deepStrictEqual(yield* depot.readText(name), Option.some("mine"))
      })
    )
  }
  for (const [what, mishap] of [
    ["409", refuse(409, "ConditionalRequestConflict")],
    ["500", refuse(500, "InternalError")],
    ["nothing", drop("before")]
  ] as const) {
    itLive(`is not the first one if another exists and the service returned ${what}`, () =>
      Effect.gen(function* () {
        const { depot, service } = yield* aBucket
        yield* depot.putText(name, "another")
        service.plan("PUT", mishap)
        assert.isFalse(yield* depot.putText(name, "mine").pipe(withQuickRetries))
        assert.deepStrictEqual(yield* depot.readText(name), Option.some("another"))
      })
    )
  }
  itLive("fails with the service's error if every retry fails with it", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      service.plan("PUT", refuse(503, "SlowDown"), 100)
      const { message } = yield* Effect.flip(depot.putText(name, "mine").pipe(withQuickRetries))
      assert.strictEqual(
        message,
        `Cannot write ${name} in ${depot.location} at ${service.endpoint}: the service returned 503 SlowDown ` +
          "(The service says SlowDown). Check the service, and run again."
      )
      assert.strictEqual(service.requests.filter((request) => request.startsWith("PUT")).length, 4)
    })
  )
  it.effect("is stored again after half a minute without any progress", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.now()) // the service compares clocks
      const { depot, service } = yield* aBucket
      service.plan("PUT", { kind: "stall", when: "before" })
      const putting = yield* Effect.forkChild(depot.putText(name, "mine"))
      while (service.requests.length === 0) yield* pause
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual(service.requests.length, 1)
      assert.isTrue(yield* advanceUntilDone(putting))
    })
  )
})

describe("an object that is stored", () => {
  for (const [what, mishap] of [
    ["the connection is cut before the service stores it", drop("before")],
    ["the connection is cut after the service stored it", drop("after")],
    ["the service returned 502", refuse(502, "BadGateway")],
    ["a byte of it is damaged in transit", { kind: "damage" }]
  ] as const satisfies ReadonlyArray<readonly [string, Mishap]>) {
    itLive(`is stored unchanged if ${what}`, () =>
      Effect.gen(function* () {
        const { depot, service } = yield* aBucket
        const { file, object } = yield* aPart
        service.plan("PUT", mishap)
        yield* putObject(depot, object, file).pipe(withQuickRetries)
        assert.strictEqual(yield* textOf(depot, object.sha256), text)
      })
    )
  }
  itLive("is sent once, and replaces an object with a different length", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      const { file, object } = yield* aPart
      for (let time = 1; time <= 2; time++) yield* putObject(depot, object, file)
      assert.strictEqual(service.requests.filter((request) => request.startsWith("PUT")).length, 1)
      const key = service.keyOf(objectName(object.sha256))
      service.objects.set(key, { bytes: Buffer.from("half of it"), modified: new Date(0).toISOString() })
      yield* putObject(depot, object, file)
      assert.strictEqual(yield* textOf(depot, object.sha256), text)
    })
  )
  itLive("fails if the file has changed, and stores nothing", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      const { file, object } = yield* aPart
      yield* Effect.promise(() => writeFile(file, text.toUpperCase()))
      const { message } = yield* Effect.flip(putObject(depot, object, file).pipe(withQuickRetries))
      assert.match(
        message,
        /400 XAmzContentSHA256Mismatch .*Run again\. If this happens again, .* or the file changes\.$/
      )
      assert.deepStrictEqual(service.names(), [])
    })
  )
  itLive("is rejected if it has more than 5 GB, before anything is sent", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      const { file } = yield* aPart
      const bytes = 5 * 2 ** 30 + 1
      yield* Effect.promise(() => truncate(file, bytes))
      const { message } = yield* Effect.flip(putObject(depot, { sha256: "0".repeat(64), bytes }, file))
      assert.match(
        message,
        /: the file has 5368709121 bytes, and S3 accepts 5 GB at once\. Use a depot in a folder, or/
      )
      assert.deepStrictEqual(service.requests, [])
    })
  )
  itLive("reports why it was rejected, even if the service does not wait for the whole body", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      const { file } = yield* aPart
      const bytes = 64 << 20
      yield* Effect.promise(() => truncate(file, bytes))
      service.plan("PUT", { kind: "refuse", status: 507, code: "XMinioStorageFull", headers: { connection: "close" } })
      const { message } = yield* Effect.flip(
        putObject(depot, { sha256: "0".repeat(64), bytes }, file).pipe(withQuickRetries)
      )
      assert.match(message, /507 XMinioStorageFull .*The bucket is full/)
    })
  )
  itLive("reports why it was rejected, although a response to HEAD has no body", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      const { file, object } = yield* aPart
      for (const method of ["HEAD", "GET"]) service.plan(method, refuse(400, "ExpiredToken"))
      const { message } = yield* Effect.flip(putObject(depot, object, file))
      assert.match(message, /^Cannot store objects\/.*: the service returned 400 ExpiredToken/)
    })
  )
})

describe("an object that is read", () => {
  const anObject = Effect.gen(function* () {
    const { depot, service } = yield* aBucket
    const { file, object } = yield* aPart
    yield* putObject(depot, object, file)
    service.requests.length = 0
    return {
      service,
      sha256: object.sha256,
      read: (from: number) => textOf(depot, object.sha256, from).pipe(withQuickRetries)
    }
  })
  itLive("resumes after each lost connection", () =>
    Effect.gen(function* () {
      const { read, service, sha256 } = yield* anObject
      service.plan("GET", drop("half-way"), 5) // each attempt makes progress, so five drops do not exceed four attempts
      assert.strictEqual(yield* read(0), text)
      assert.deepStrictEqual(
        service.requests,
        Array.from({ length: 6 }, () => `GET ${service.keyOf(objectName(sha256))}`)
      )
      service.plan("GET", drop("half-way"))
      assert.strictEqual(yield* read(9), text.slice(9))
    })
  )
  it.effect("resumes after half a minute without data", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.now()) // the service compares clocks
      const { read, service } = yield* anObject
      service.plan("GET", { kind: "stall", when: "half-way" })
      assert.strictEqual(yield* advanceUntilDone(yield* Effect.forkChild(read(0))), text)
      assert.strictEqual(service.requests.length, 2)
    }).pipe(Effect.provide(NodeServices.layer))
  )
  itLive("resumes from a host without ranges, and skips the bytes that it already has", () =>
    Effect.gen(function* () {
      const { read, service } = yield* anObject
      service.plan("GET", { kind: "range", sent: "all" })
      assert.strictEqual(yield* read(9), text.slice(9))
    })
  )
  itLive("fails if it receives bytes other than requested", () =>
    Effect.gen(function* () {
      const { read, service } = yield* anObject
      service.plan("GET", { kind: "range", sent: "another" })
      const { message } = yield* Effect.flip(read(9))
      assert.match(
        message,
        /: the bytes from 9 on were requested, but others were sent \(bytes 10-58\/59\)\. Check the host/
      )
    })
  )
  itLive("fails after several attempts without data", () =>
    Effect.gen(function* () {
      const { read, service } = yield* anObject
      service.plan("GET", refuse(503, "SlowDown"), 100)
      assert.match((yield* Effect.flip(read(0))).message, /503 SlowDown/)
      assert.strictEqual(service.requests.length, 4)
    })
  )
})

describe("a listing", () => {
  itLive("has the names of all its pages, even if one is requested twice", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      const names = Array.from({ length: 7 }, (_, at) => `generations/00000000${at + 1}.json`)
      yield* Effect.forEach(names, (name) => depot.putText(name, "{}"))
      service.state.pageLength = 2
      service.plan("GET", refuse(500, "InternalError"), 2)
      assert.deepStrictEqual(yield* depot.list("generations/").pipe(withQuickRetries), names)
      assert.deepStrictEqual(yield* depot.list("generations/", names[3]), names.slice(4))
    })
  )
  itLive("has unchanged names, even from a service that does not encode them in a listing", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      service.state.encodesNames = false
      yield* depot.putText(name, "{}")
      assert.deepStrictEqual(yield* depot.list("generations/"), [name])
    })
  )
  itLive("fails if a page is incomplete, or is not a page", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      yield* depot.putText(name, "{}")
      for (const length of [20, -30]) {
        service.state.listingEndsAt = length
        const { message } = yield* Effect.flip(depot.list("generations/").pipe(withQuickRetries))
        assert.match(
          message,
          /list generations\/ in .*: the response is not a page of ListObjectsV2\. Check that the address belongs/
        )
      }
    })
  )
})

describe("a service that rejects requests", () => {
  const token = `session${"x".repeat(300)}`
  const readRefusal = Effect.fnUntraced(function* (changed: Partial<Bucket>, mishap?: Mishap) {
    const service = yield* s3Service
    if (mishap !== undefined) service.plan("PUT", mishap)
    const depot = yield* withClient(s3Depot({ ...service.settings, sessionToken: Redacted.make(token), ...changed }))
    const { message } = yield* Effect.flip(depot.putText(name, "{}"))
    assert.notInclude(message, Redacted.value(service.settings.secretAccessKey))
    assert.notInclude(message, token)
    return message
  })
  for (const [what, changed, problem, advice] of [
    ["an unknown key", { accessKeyId: "unknown" }, "403 InvalidAccessKeyId", "Check AWS_ACCESS_KEY_ID, and whether"],
    [
      "a wrong secret",
      { secretAccessKey: Redacted.make("x") },
      "403 SignatureDoesNotMatch",
      "Check AWS_SECRET_ACCESS_KEY."
    ],
    [
      "a bucket that does not exist",
      { bucket: "nowhere" },
      "404 NoSuchBucket",
      "Create the bucket nowhere, or name another"
    ],
    [
      "another region",
      { region: "us-east-1" },
      "400 AuthorizationHeaderMalformed",
      "region eu-test-1: set AWS_REGION=eu-test-1."
    ]
  ] as const) {
    itLive(`because of ${what} is reported with the setting to change`, () =>
      Effect.gen(function* () {
        const message = yield* readRefusal(changed)
        assert.include(message, `: the service returned ${problem} (`)
        assert.include(message, advice)
      })
    )
  }
  for (const [status, code, advice] of [
    [
      400,
      "ExpiredToken",
      "Get new credentials, set them in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and"
    ],
    [
      403,
      "AccessDenied",
      "Allow these credentials s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject in the bucket depot."
    ],
    [507, "XMinioStorageFull", "The bucket is full: make room in it"],
    [403, "QuotaExceeded", "The bucket is full: make room in it"],
    [
      301,
      "PermanentRedirect",
      "The bucket depot is in another region than eu-test-1, or behind another endpoint: set AWS_REGION or"
    ],
    [501, "NotImplemented", "A depot needs a service that supports If-None-Match, Range and ListObjectsV2, such as"]
  ] as const) {
    itLive(`with ${code} gets no second request, and the message says what to do`, () =>
      Effect.gen(function* () {
        const message = yield* readRefusal({}, refuse(status, code))
        assert.include(message, `: the service returned ${status} ${code} (The service says ${code}). ${advice}`)
      })
    )
  }
  itLive("with 404 for an unknown user is not mistaken for a missing object", () =>
    Effect.gen(function* () {
      const { depot, service } = yield* aBucket
      service.plan("GET", refuse(404, "XAdminUserNotFound"))
      const { message } = yield* Effect.flip(depot.readText(name))
      assert.match(message, /404 XAdminUserNotFound .*Check AWS_ACCESS_KEY_ID/)
    })
  )
  it.effect("because of this machine's clock is reported with the time of that clock", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Date.now() + 86_400_000)
      const message = yield* readRefusal({})
      assert.match(message, /403 RequestTimeTooSkewed .*\. Correct the clock of this machine: it shows \d{4}-/)
    })
  )
})

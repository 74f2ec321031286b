/** Creates buckets in external S3 services, and tests depots in them. */
import { randomUUID } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { assert, describe } from "@effect/vitest"
import { listObjectTimes, putObject } from "@larder/warehouse/depot/depot.ts"
import { proveDepot } from "@larder/warehouse/depot/prove-depot.ts"
import { type Bucket, s3Depot } from "@larder/warehouse/depot/s3.ts"
import { AwsClient } from "aws4fetch"
import { Effect, FileSystem, Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { withClient, withQuickRetries } from "../support/depots/networked.ts"
import { itLive } from "../support/it-live.ts"
import { testDepot } from "../support/warehouse/depot-contract.ts"

export interface Service {
  readonly settings: Omit<Bucket, "prefix">
  /** Whether it verifies signatures and checksums. */
  readonly isStrict: boolean
  readonly stop: () => void
}

/** Stops the programs that were already started if `start` fails. */
export const startOrStop = async (stop: () => void, start: () => Promise<Service>) => {
  try {
    return await start()
  } catch (error) {
    stop()
    throw error
  }
}

/** Waits until the endpoint responds. */
export const waitForResponse = async (endpoint: string): Promise<void> => {
  for (;;) {
    const hasResponded = await fetch(endpoint).then(
      () => true,
      () => false
    )
    if (hasResponded) return
    await setTimeout(100)
  }
}

/** Creates a bucket in a service that has just started, and returns its settings. */
export const createBucket = async (endpoint: string, accessKeyId: string, secretAccessKey: string) => {
  const [bucket, region] = ["larder", "us-east-1"]
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3" })
  const response = await client.fetch(`${endpoint}/${bucket}`, { method: "PUT" })
  if (!response.ok) throw new Error(`${endpoint} cannot create a bucket: ${response.status} ${await response.text()}`)
  return {
    ...{ endpoint, bucket, region, accessKeyId },
    ...{ secretAccessKey: Redacted.make(secretAccessKey), sessionToken: undefined }
  }
}

export const testDepots = (name: string, start: () => Promise<Service>) => {
  describe(`a depot in ${name}`, () => {
    let service: Service | undefined
    beforeAll(async () => {
      service = await start()
    })
    afterAll(() => service?.stop())

    const depotWith = (changed: Partial<Bucket>) =>
      Effect.suspend(() => {
        if (service === undefined) throw new Error(`${name} has not started`)
        return withClient(s3Depot({ ...service.settings, prefix: `it's + ${randomUUID()}/larder`, ...changed }))
      })
    /** Each depot has its own prefix. */
    const aDepot = depotWith({})

    testDepot(aDepot)

    itLive("passes its proof", () =>
      Effect.gen(function* () {
        const depot = yield* aDepot
        yield* proveDepot(depot)
        assert.deepStrictEqual(yield* depot.list("proofs/"), [])
      })
    )
    itLive("names the wrong setting", () =>
      Effect.gen(function* () {
        const readMessage = (changed: Partial<Bucket>) =>
          Effect.map(
            Effect.flip(
              Effect.flatMap(depotWith(changed), (depot) => depot.putText("generations/000000001.json", "{}"))
            ),
            ({ message }) => message
          )
        assert.include(yield* readMessage({ bucket: "nowhere" }), "404 NoSuchBucket")
        if (service?.isStrict !== true) return
        assert.include(yield* readMessage({ secretAccessKey: Redacted.make("x") }), "SignatureDoesNotMatch")
        assert.include(yield* readMessage({ accessKeyId: "nobody" }), "Check AWS_ACCESS_KEY_ID")
      })
    )
    itLive("stores no object whose bytes differ from its SHA-256, if the service compares them", () =>
      Effect.gen(function* () {
        const depot = yield* aDepot
        const fs = yield* FileSystem.FileSystem
        const file = yield* fs.makeTempFileScoped()
        yield* fs.writeFileString(file, "another one")
        yield* putObject(depot, { sha256: "0".repeat(64), bytes: 11 }, file).pipe(withQuickRetries, Effect.option)
        assert.strictEqual((yield* listObjectTimes(depot)).size, service?.isStrict === true ? 0 : 1)
      })
    )
  })
}

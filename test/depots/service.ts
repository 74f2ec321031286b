/** S3 services that are not Larder's: how their buckets are made, and what a depot in one has to do. */

import { randomUUID } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { assert, describe } from "@effect/vitest"
import { type Bucket, datedObjects, proveDepot, putObject, s3Depot } from "@larder/warehouse"
import { AwsClient } from "aws4fetch"
import { Effect, FileSystem, Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { soon, withClient } from "../support/depots/networked.ts"
import { itLive } from "../support/it-live.ts"
import { testDepot } from "../support/warehouse/depot-contract.ts"

export interface Service {
  readonly settings: Omit<Bucket, "prefix">
  /** Looks at signatures and checksums. */
  readonly isStrict: boolean
  readonly stop: () => void
}

/** Stops what has begun to start, where it gets no further. */
export const orStop = async (stop: () => void, start: () => Promise<Service>) => {
  try {
    return await start()
  } catch (error) {
    stop()
    throw error
  }
}

/** Waits until something answers there. */
export const answers = async (endpoint: string): Promise<void> => {
  for (;;) {
    const isThere = await fetch(endpoint).then(
      () => true,
      () => false
    )
    if (isThere) return
    await setTimeout(100)
  }
}

/** A bucket at a service that has just started. */
export const bucketAt = async (endpoint: string, accessKeyId: string, secretAccessKey: string) => {
  const [bucket, region] = ["larder", "us-east-1"]
  const client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3" })
  const made = await client.fetch(`${endpoint}/${bucket}`, { method: "PUT" })
  if (!made.ok) throw new Error(`${endpoint} makes no bucket: ${made.status} ${await made.text()}`)
  return {
    ...{ endpoint, bucket, region, accessKeyId },
    ...{ secretAccessKey: Redacted.make(secretAccessKey), sessionToken: undefined }
  }
}

export const holdsDepots = (name: string, start: () => Promise<Service>) => {
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
    /** Each test has a prefix of its own. */
    const aDepot = depotWith({})

    testDepot(aDepot)

    itLive("is proven", () =>
      Effect.gen(function* () {
        const depot = yield* aDepot
        yield* proveDepot(depot)
        assert.deepStrictEqual(yield* depot.list("proofs/"), [])
      })
    )
    itLive("says what is wrong with a setting", () =>
      Effect.gen(function* () {
        const failing = (changed: Partial<Bucket>) =>
          Effect.map(
            Effect.flip(
              Effect.flatMap(depotWith(changed), (depot) => depot.putText("generations/000000001.json", "{}"))
            ),
            ({ message }) => message
          )
        assert.include(yield* failing({ bucket: "nowhere" }), "404 NoSuchBucket")
        if (service?.isStrict !== true) return
        assert.include(yield* failing({ secretAccessKey: Redacted.make("x") }), "SignatureDoesNotMatch")
        assert.include(yield* failing({ accessKeyId: "nobody" }), "Check AWS_ACCESS_KEY_ID")
      })
    )
    itLive("keeps no object that is not what its name says, where the service compares them", () =>
      Effect.gen(function* () {
        const depot = yield* aDepot
        const fs = yield* FileSystem.FileSystem
        const file = yield* fs.makeTempFileScoped()
        yield* fs.writeFileString(file, "another one")
        yield* putObject(depot, { sha256: "0".repeat(64), bytes: 11 }, file).pipe(soon, Effect.option)
        assert.strictEqual((yield* datedObjects(depot)).size, service?.isStrict === true ? 0 : 1)
      })
    )
  })
}

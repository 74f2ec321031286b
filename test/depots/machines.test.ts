/** Machines that share a depot in a bucket. Each has its own home and real processes. */
import { readdirSync, statSync } from "node:fs"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { objectName } from "@larder/warehouse/depot/depot.ts"
import { Effect } from "effect"
import { expect } from "vitest"
import { makeTestFolder, newestManifest, query } from "../end-to-end/ingesting.ts"
import { sendOnce } from "../support/api/client.ts"
import { sharedDepot } from "../support/depots/shared-depot.ts"
import { itLive } from "../support/it-live.ts"
import { addGeneration, recordDays } from "../support/more-generations.ts"
import { newKey, run, startServer, waitUntilServed } from "../support/programs.ts"

const ingest = (home: string, environment: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
  run("larder-ingest", args, { LARDER_HOME: home, ...environment })
/** A home whose only generation has one price, so that transfers are small. */
const makeSmallHome = async () => {
  const home = makeTestFolder()
  await addGeneration(home, ["2026-09-29"])
  return home
}
const prices = "/v1/commodities/prices?series=butter-exch-spot-close-daily&from=2026-09-29"

describe("machines that share a depot", () => {
  itLive("publish into it; a server follows publications and rollbacks, and continues without the depot", () =>
    Effect.gen(function* () {
      const { environment, service } = yield* sharedDepot
      yield* Effect.promise(async () => {
        const publisher = await makeSmallHome() // it had a generation before it shared a depot
        const [other, serving] = [makeTestFolder(), makeTestFolder()]
        await addGeneration(publisher, ["2026-09-29", "2026-09-30"], environment)
        const { key } = await newKey(serving)
        const server = await startServer(serving, environment)
        try {
          const fetchNewest = async () => {
            const { headers, json } = await sendOnce(server.api, prices, { key })
            const { data } = json as {
              readonly data: ReadonlyArray<{ readonly points: ReadonlyArray<{ date: string }> }>
            }
            return [headers["x-data-version"], data[0]?.points.at(-1)?.date]
          }
          assert.deepStrictEqual(await fetchNewest(), ["larder-000002", "2026-09-30"])
          await addGeneration(publisher, ["2026-09-29", "2026-09-30", "2026-10-01"], environment)
          await waitUntilServed(server, "larder-000003")
          assert.deepStrictEqual(await fetchNewest(), ["larder-000003", "2026-10-01"])

          const rolledBack = await ingest(other, environment, "rollback", "--only", "commodities")
          assert.strictEqual(rolledBack.code, 0, rolledBack.stderr)
          await waitUntilServed(server, "larder-000004")
          assert.deepStrictEqual(await fetchNewest(), ["larder-000004", "2026-09-30"])
          const [runs] = await query(serving, "select count(*)::integer as runs from ingest.run")
          assert.deepStrictEqual(runs, [{ runs: 3 }])

          const laptop = makeTestFolder()
          const pulled = await ingest(laptop, { LARDER_DEPOT: service.address }, "pull", "--json") // as from any web server
          assert.strictEqual(pulled.code, 0, pulled.stderr)
          assert.deepInclude(JSON.parse(pulled.stdout), { generation: "larder-000004", depot: service.address })
          const newestPrice =
            "select max(observed_on)::varchar as newest from commodity.observation where metric_name like 'butter%'"
          assert.deepStrictEqual((await query(laptop, newestPrice))[0], [{ newest: "2026-09-30" }])
          const refused = await ingest(laptop, { LARDER_DEPOT: service.address }, "commodities")
          assert.strictEqual(refused.code, 1)
          assert.match(refused.stderr, /is read-only/)

          service.plan("GET", { kind: "refuse", status: 403, code: "AccessDenied" }, 1_000_000)
          const stopped = await ingest(other, environment, "commodities")
          assert.strictEqual(stopped.code, 1)
          assert.match(stopped.stderr, /Cannot .* s3:\/\/depot/)
          assert.deepStrictEqual(await fetchNewest(), ["larder-000004", "2026-09-30"])
          const ready = async () => (await fetch(`${server.console}/readyz`)).json()
          await expect.poll(ready).toMatchObject({
            generation: "larder-000004",
            fault: expect.stringMatching(/^no newer generation arrives from s3:\/\/depot/)
          })
        } finally {
          await server.stop()
        }
        assert.lengthOf(readdirSync(path.join(serving, "warehouse/incoming")), 0)
      })
    })
  )

  itLive("lose no data if both publish the same data set, even if responses are lost", () =>
    Effect.gen(function* () {
      const { environment, service } = yield* sharedDepot
      yield* Effect.promise(async () => {
        const machines = [await makeSmallHome(), makeTestFolder()] as const
        const days = [["2026-09-30"], ["2026-10-01"]]
        const upload = await ingest(machines[0], environment, "pull") // uploads the generations of this machine
        assert.strictEqual(upload.code, 0, upload.stderr)
        service.plan("PUT", { kind: "drop", when: "after" }, 2)
        service.plan("PUT", { kind: "refuse", status: 503, code: "SlowDown" }, 2)
        service.plan("GET", { kind: "drop", when: "half-way" }, 3)
        await Promise.all(machines.map((machine, at) => addGeneration(machine, days[at] ?? [], environment)))
        const reader = makeTestFolder()
        assert.strictEqual((await ingest(reader, environment, "pull")).code, 0)
        const [prices, runs] = await query(
          reader,
          "select observed_on::varchar as day from commodity.observation where metric_name = 'butter_exch_spot_close_daily' and observed_on > '2026-09-29' order by day",
          "select outcome, count(distinct generation)::integer as generations from ingest.run group by all"
        )
        assert.deepStrictEqual(prices, [{ day: "2026-09-30" }, { day: "2026-10-01" }])
        assert.deepStrictEqual(runs, [{ outcome: "partial", generations: 3 }])
        assert.deepStrictEqual(
          service.names().filter((name) => name.startsWith("generations/0")),
          [1, 2, 3].map((number) => `generations/00000000${number}.json`)
        )
      })
    })
  )

  itLive("accept only generations that are signed with their key, and keep their live data otherwise", () =>
    Effect.gen(function* () {
      const { environment, service } = yield* sharedDepot
      yield* Effect.promise(async () => {
        const [publisher, laptop, otherPublisher] = [await makeSmallHome(), makeTestFolder(), makeTestFolder()]
        const keys = await ingest(publisher, environment, "depot", "keys", "--json")
        const { file, is_new, public_key } = JSON.parse(keys.stdout)
        assert.deepStrictEqual([is_new, statSync(file).mode & 0o777], [true, 0o600])
        assert.include(
          (await ingest(publisher, {}, "depot", "keys")).stdout,
          `\nLARDER_DEPOT_PUBLIC_KEY=${public_key}\n`
        )
        await addGeneration(publisher, ["2026-09-30"], environment)
        const trustedSettings = { LARDER_DEPOT: service.address, LARDER_DEPOT_PUBLIC_KEY: public_key }
        const pulled = await ingest(laptop, trustedSettings, "pull")
        assert.strictEqual(pulled.code, 0, pulled.stderr)
        assert.match(pulled.stdout, /^larder-000002 is in .*warehouse: [\d,]+ KiB came from http/)

        await addGeneration(otherPublisher, ["2026-09-30", "2026-10-01"], environment) // without a key
        const refused = await ingest(laptop, trustedSettings, "pull")
        assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
        assert.match(
          refused.stderr,
          /Cannot trust generations\/000000003\.json in http.*: it has no signature\. It was not used\./
        )
        const live =
          "select max(observed_on)::varchar as newest from commodity.observation where metric_name = 'butter_exch_spot_close_daily'"
        assert.deepStrictEqual((await query(laptop, live))[0], [{ newest: "2026-09-30" }])
        const wrong = await ingest(laptop, { ...trustedSettings, LARDER_DEPOT_PUBLIC_KEY: "abc" }, "pull")
        assert.strictEqual(wrong.code, 2)
        assert.match(wrong.stderr, /LARDER_DEPOT_PUBLIC_KEY is not a public key/)
      })
    })
  )

  itLive("say what to do about a full bucket, expired credentials and a damaged object", () =>
    Effect.gen(function* () {
      const { environment, service } = yield* sharedDepot
      yield* Effect.promise(async () => {
        const [publisher, recorded, laptop] = [await makeSmallHome(), makeTestFolder(), makeTestFolder()]
        recordDays(recorded, ["2026-09-30"])
        const pull = (home: string) => ingest(home, environment, "pull")
        const publish = () => ingest(publisher, environment, "commodities", "--replay", recorded)
        const readLive = async (home: string) => {
          const [rows] = await query(home, "select max(observed_on)::varchar as newest from commodity.observation")
          return rows?.[0]?.newest
        }
        for (const home of [publisher, laptop]) assert.strictEqual((await pull(home)).code, 0)
        for (const [status, code, advice] of [
          [507, "XMinioStorageFull", "The bucket is full: make room in it"],
          [400, "ExpiredToken", "Get new credentials, set them in AWS_ACCESS_KEY_ID"]
        ] as const) {
          service.plan("PUT", { kind: "refuse", status, code }, 1_000)
          const stopped = await publish()
          assert.strictEqual(stopped.code, 1, stopped.stderr)
          assert.include(stopped.stderr, advice)
          service.recover()
          assert.strictEqual((await pull(laptop)).code, 0)
          for (const home of [publisher, laptop]) assert.strictEqual(await readLive(home), "2026-09-29")
        }
        const published = await publish()
        assert.strictEqual(published.code, 4, published.stderr)

        const { data_sets } = newestManifest(publisher)
        const key = service.keyOf(objectName(data_sets.commodities?.parts[0]?.sha256 ?? ""))
        const object = service.objects.get(key)
        assert.isDefined(object)
        service.objects.set(key, { ...object, bytes: Buffer.from(object.bytes).fill(1, 5_000, 5_001) })
        const refused = await pull(laptop)
        assert.strictEqual(refused.code, 1)
        assert.match(
          refused.stderr,
          /is damaged: the size or SHA-256 of the received file differs\..* Put the object there again/
        )
        assert.strictEqual(await readLive(laptop), "2026-09-29")
        service.objects.set(key, object)
        assert.strictEqual((await pull(laptop)).code, 0)
        assert.strictEqual(await readLive(laptop), "2026-09-30")
      })
    })
  )
})

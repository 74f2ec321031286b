import { randomUUID } from "node:crypto"
import path from "node:path"
import { assert, describe } from "@effect/vitest"
import { folderDepot } from "@larder/warehouse/depot/folder.ts"
import { httpDepot } from "@larder/warehouse/depot/http.ts"
import { Effect } from "effect"
import { afterAll, beforeAll, it } from "vitest"
import { withClient } from "../support/depots/networked.ts"
import { testReadableDepot } from "../support/warehouse/depot-contract.ts"
import { startNginx } from "./nginx.ts"

describe("a depot behind nginx", () => {
  let nginx: Awaited<ReturnType<typeof startNginx>>
  beforeAll(async () => {
    nginx = await startNginx()
  })
  afterAll(() => nginx?.stop())

  testReadableDepot(
    Effect.suspend(() => {
      const folder = randomUUID()
      const filled = folderDepot(path.join(nginx.root, folder))
      const depot = withClient(httpDepot({ address: `${nginx.address}/${folder}`, user: undefined }))
      return Effect.map(depot, (depot) => ({ filled, depot }))
    })
  )

  it("compresses responses for clients that accept it", async () => {
    const folder = folderDepot(path.join(nginx.root, "compressed"))
    await Effect.runPromise(folder.putText("generations/000000001.json", "{}".repeat(100)))
    const response = await fetch(`${nginx.address}/compressed/generations/000000001.json`)
    assert.strictEqual(response.headers.get("content-encoding"), "gzip")
  })
})

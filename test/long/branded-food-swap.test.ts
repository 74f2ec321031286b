/** Ingests of branded foods, one that fails and one that succeeds, beside a server that is being called. Some 15 s. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { openApi } from "@larder/schemas/openapi.ts"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { goodZip, load } from "../end-to-end/small-releases.ts"
import { makeJudge } from "../support/api/judge.ts"
import { newKey, type Server, startServer, untilServed } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"

const callers = 6
/** Three foods that the samples do not have. */
const zip = goodZip(5_000_000)
const newFood = "/v1/branded-foods?name=food+5000001"

interface Foods {
  readonly data: ReadonlyArray<{ readonly id: string; readonly description: string }>
}
interface Answer {
  readonly target: string
  readonly status: number
  readonly generation: string
  readonly headers: Headers
  readonly text: string
}

describe("branded foods that are ingested while a server is called", () => {
  let home = ""
  let folder = ""
  let server: Server
  let key = ""
  beforeAll(async () => {
    home = copyHome(inject("sampleHome"))
    folder = mkdtempSync(path.join(tmpdir(), "larder-release-"))
    key = (await newKey(home, { budget: "10000", usd: "10000" })).key
    server = await startServer(home)
  })
  afterAll(async () => {
    await server.stop()
    for (const made of [home, folder]) rmSync(made, { recursive: true, force: true })
  })

  const call = async (target: string): Promise<Answer> => {
    const response = await fetch(`${server.api}${target}`, { headers: { authorization: `Bearer ${key}` } })
    const { headers, status } = response
    const generation = headers.get("x-data-version") ?? ""
    return { target, status, generation, headers, text: await response.text() }
  }
  const ingest = (name: string, content: Buffer) => {
    const file = path.join(folder, name)
    writeFileSync(file, content)
    return load(home, file)
  }
  const found = ({ text }: Answer) => (JSON.parse(text) as Foods).data.map(({ description }) => description)

  /** One in a hundred, and the last of each target: judging takes longer than answering. */
  const judgeSome = (answers: ReadonlyArray<Answer>) => {
    const { judge } = makeJudge(openApi())
    const some = answers.filter((_, turn) => turn % 100 === 0 || turn >= answers.length - 10)
    for (const { headers, status, target, text } of some) {
      const reply = { status, headers: Object.fromEntries(headers), text, json: JSON.parse(text) }
      judge("GET", target.split("?", 1)[0] ?? "", reply)
    }
  }

  it("stay the old ones after a failed run and become the new ones after a good run; no request fails", async () => {
    const { data } = JSON.parse((await call("/v1/branded-foods?limit=1")).text) as Foods
    const targets = [
      newFood,
      "/v1/branded-foods?ingredient=salt&limit=20",
      "/v1/branded-foods?category=candy&name=a&limit=5",
      "/v1/branded-foods/categories",
      `/v1/branded-foods/${data[0]?.id}`
    ]
    let calling = true
    const answers: Array<Answer> = []
    const caller = async (turn: number) => {
      for (let n = turn; calling; n++) answers.push(await call(targets[n % targets.length] ?? newFood))
    }
    const all = Array.from({ length: callers }, (_, turn) => caller(turn))
    try {
      const failed = await ingest("cut.zip", zip.subarray(0, 300))
      expect([failed.code, failed.stderr]).toEqual([
        1,
        expect.stringMatching(/cut\.zip cannot be read: it was cut off/)
      ])
      expect(found(await call(newFood))).toEqual([])
      const good = await ingest("whole.zip", zip)
      expect(good.code, good.stderr).toBe(0)
      await untilServed(server, "larder-000005")
      for (const target of targets) answers.push(await call(target))
    } finally {
      calling = false
      await Promise.all(all)
    }
    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    const seen = Map.groupBy(answers, ({ generation, target }) => `${generation} ${target}`)
    expect([...seen.keys()].toSorted()).toEqual(
      ["larder-000002", "larder-000005"].flatMap((generation) => targets.map((at) => `${generation} ${at}`)).toSorted()
    )
    // Each answer is wholly of the generation that it names.
    for (const same of seen.values()) expect(new Set(same.map(({ text }) => text)).size).toBe(1)
    judgeSome(answers)
    const newFoodIn = (generation: string) => (seen.get(`${generation} ${newFood}`) ?? []).slice(0, 1).map(found)
    expect([newFoodIn("larder-000002"), newFoodIn("larder-000005")]).toEqual([[[]], [["FOOD 5000001"]]])
  })
})

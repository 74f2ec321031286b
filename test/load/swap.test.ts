/** Generations change under a server that is being called. */
import { rmSync } from "node:fs"
import { openApi } from "@larder/schemas/openapi.ts"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { makeJudge, type Reply } from "../support/api/judge.ts"
import { addGeneration } from "../support/more-generations.ts"
import { newKey, run, type Server, startServer, untilServed } from "../support/programs.ts"
import { copyHome } from "../support/sample-home.ts"

const callers = 16
const prices = "/v1/commodities/prices"
const swaps = 3
/** The samples end on 29 September, the generation after them has one more day. Each rollback is a generation of its own. */
const newestOf = new Map([["larder-000004", "2026-09-30"]])

describe("generations that change under load", () => {
  let home: string
  let server: Server
  let key: string

  beforeAll(async () => {
    home = copyHome(inject("sampleHome"))
    await addGeneration(home)
    key = (await newKey(home, { budget: "10000", usd: "10000" })).key
    server = await startServer(home)
  })
  afterAll(async () => {
    await server.stop()
    rmSync(home, { recursive: true, force: true })
  })

  /** One answer in a hundred, held against the document when all are there: judging takes longer than answering. */
  const sampled: Array<Reply> = []
  let calls = 0

  const newestButterClose = async () => {
    const url = `${server.api}${prices}?series=butter-exch-spot-close-daily&from=2026-09-01`
    const { headers, status, ...response } = await answered(url)
    if (calls++ % 100 === 0) sampled.push({ status, headers: Object.fromEntries(headers), ...response })
    const body = response.json as {
      readonly data: ReadonlyArray<{ points: ReadonlyArray<{ date: string }> }>
    }
    return {
      status,
      generation: headers.get("x-data-version") ?? "",
      newest: body.data?.[0]?.points.at(-1)?.date
    }
  }
  const answered = async (url: string) => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    const text = await response.text()
    const json: unknown = JSON.parse(text)
    return { status: response.status, headers: response.headers, text, json }
  }

  it("fails no request, and each answer comes wholly from the generation that it names", async () => {
    let swapping = true
    const answers: Array<Awaited<ReturnType<typeof newestButterClose>>> = []
    const call = async () => {
      while (swapping) answers.push(await newestButterClose())
    }
    const calling = Array.from({ length: callers }, call)
    for (let swap = 0; swap < swaps; swap++) {
      const [to, newest] = swap % 2 === 0 ? ["larder-000003", "2026-09-29"] : ["larder-000004", "2026-09-30"]
      const { code, stderr, stdout } = await run("larder-ingest", ["rollback", "--to", to, "--json"], {
        LARDER_HOME: home
      })
      expect(code, stderr).toBe(0)
      const { generation }: { readonly generation: string } = JSON.parse(stdout)
      newestOf.set(generation, newest)
      await untilServed(server, generation)
      answers.push(await newestButterClose())
    }
    swapping = false
    await Promise.all(calling)

    expect(answers.filter(({ status }) => status !== 200)).toEqual([])
    expect(answers.filter(({ generation, newest }) => newest !== newestOf.get(generation))).toEqual([])
    expect([...new Set(answers.map(({ generation }) => generation))].sort()).toEqual([...newestOf.keys()].sort())
    const { judge } = makeJudge(openApi())
    for (const reply of sampled) judge("GET", prices, reply)
  })
})

/**
 * The code samples in the reference, in every offered language, read from the page. The samples for curl, Node and Python
 * are run; the requests of the others are parsed from their text. Takes about fifteen seconds.
 */
import { spawn } from "node:child_process"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startRecordingProxy } from "../../generated-clients/recording-proxy.ts"
import { useSharedServer } from "../../support/api/server.ts"
import { waitForExit } from "../../support/programs.ts"
import { launch } from "./chromium.ts"

const api = useSharedServer()
const operations = () => Object.entries(api.client().document.paths).map(([template, { get }]) => ({ template, get }))

/** Samples by language and library, such as `Shell Curl`: one per operation, in the order of the document. */
const samples = new Map<string, ReadonlyArray<string>>()
const findSamples = (language: string) => samples.get(language) ?? []

/**
 * Chooses each language for all operations at once, and returns it with its samples. Runs in the page, and hides the example
 * responses, because each choice takes twice as long with them.
 */
const readSamples = `(async () => {
  const drawn = () => new Promise((next) => requestAnimationFrame(next))
  const cards = () => [...document.querySelectorAll(".request-card")]
  const shown = () => cards().map((card) => card.querySelector(".scalar-code-block code")?.textContent)
  const options = () => [...document.querySelectorAll("[role=option]")]
  while (cards().length < OPERATIONS) {
    scrollBy(0, 1000) // content is drawn when it becomes visible
    await drawn()
  }
  for (const other of document.querySelectorAll(".response-card, .markdown")) other.style.display = "none"
  const picker = cards()[0].querySelector("button")
  const open = async () => {
    picker.click()
    while (options().length === 0) await drawn()
    return options()
  }
  const read = []
  for (let index = 0; index < (await open()).length; index++) {
    const before = shown()
    const option = options()[index]
    const isChosen = option.getAttribute("aria-selected") === "true"
    option.click()
    while (!isChosen && shown().some((text, position) => text === before[position])) await drawn()
    while (options().length > 0) await drawn()
    read.push([picker.innerText.replaceAll(/\\s+/g, " ").trim(), shown()])
  }
  return read
})()`

/** Reads the request from a sample, whose address may be complete or in parts, and whose query may be an object. */
const parseRequest = (sample: string, origin: string): string => {
  const text = sample.replaceAll(/^import .*$/gm, "") // `import axios from 'axios'` contains no parameter
  const [, path = ""] = /(\/v1\/[^\s'"`)]*)/.exec(text) ?? []
  const url = new URL(path, origin)
  for (const name of operations().flatMap(({ get }) => get.parameters.map((parameter) => parameter.name))) {
    const [, value] = new RegExp(`["':\\[{\\s]${name}["']?\\s*(?:=>|=|:|\\s)\\s*["']([^"'\\n]*)["']`).exec(text) ?? []
    if (value !== undefined) url.searchParams.set(name, value)
  }
  const hasHost = sample.includes(new URL(origin).hostname)
  const hasKey = /Authorization/.test(sample) && /Bearer(\s|", ")YOUR_SECRET_TOKEN/.test(sample)
  return [...(hasHost ? [] : ["no host"]), ...(hasKey ? [] : ["no key"]), decodeURIComponent(url.href)].join(" ")
}

/** The request with the document's examples of all required parameters. */
const makeRequest = ({ get, template }: ReturnType<typeof operations>[number], origin: string): string => {
  const required = get.parameters.filter((parameter) => parameter.required)
  const id = required.find((parameter) => parameter.in === "path")?.example
  const query = required.flatMap(({ example, in: part, name }) => (part === "query" ? [`${name}=${example}`] : []))
  return `${origin}${template.replace("{id}", String(id))}${query.length === 0 ? "" : `?${query.join("&")}`}`
}

describe("the samples in the reference", () => {
  let proxy: Awaited<ReturnType<typeof startRecordingProxy>>
  beforeAll(async () => {
    proxy = await startRecordingProxy(api.client())
    const context = await (await launch()).newContext({ baseURL: api.server().api, reducedMotion: "reduce" })
    try {
      context.setDefaultTimeout(60_000)
      const page = await context.newPage()
      await page.goto("/docs/reference#tag/commodities/GET/v1/commodities")
      await page.locator(".request-card").first().waitFor()
      const script = readSamples.replace("OPERATIONS", String(operations().length))
      const read = await page.evaluate<ReadonlyArray<readonly [string, ReadonlyArray<string>]>>(script)
      for (const [language, texts] of read) samples.set(language, texts)
    } finally {
      await context.close()
    }
  })
  afterAll(() => proxy?.close())

  /** A sample with a key and the address of the proxy, which records the responses. */
  const fillSample = (sample: string) =>
    sample
      .replaceAll(api.server().api, proxy.url)
      .replaceAll(new URL(api.server().api).host, new URL(proxy.url).host)
      .replaceAll("YOUR_SECRET_TOKEN", api.key().key)

  const run = async (program: string, ...args: ReadonlyArray<string>) => {
    const before = proxy.exchanges.length
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] })
    const { code, stderr, stdout } = await waitForExit(child)
    expect([program, code, stderr]).toEqual([program, 0, ""])
    return { exchanges: proxy.exchanges.slice(before), stdout }
  }

  const expectRows = (exchanges: typeof proxy.exchanges) => {
    expect(exchanges.map(({ target }) => decodeURIComponent(target))).toEqual(
      operations().map((operation) => makeRequest(operation, ""))
    )
    for (const { body, status, target } of exchanges) {
      const { data } = Object(body)
      expect([target, status, Array.isArray(data) ? data.length > 0 : typeof data]).toEqual([
        target,
        200,
        Array.isArray(data) ? true : "object"
      ])
    }
  }

  it("are offered in many languages and send no cookies, which browsers reject across origins", () => {
    expect(samples.size).toBeGreaterThan(30)
    for (const [language, texts] of samples) {
      expect(
        texts.filter((text) => /withCredentials = true/.test(text)),
        language
      ).toEqual([])
    }
  })

  it("send only the required parameters and the key, in every language", () => {
    const origin = api.server().api
    const expected = operations().map((operation) => makeRequest(operation, origin))
    for (const [language, texts] of samples) {
      expect({ language, requests: texts.map((text) => parseRequest(text, origin)) }).toEqual({
        language,
        requests: expected
      })
    }
  })

  it("return rows with curl", async () => {
    const exchanges = []
    for (const sample of findSamples("Shell Curl")) {
      exchanges.push(...(await run("sh", "-c", `${fillSample(sample).trim()} --silent --show-error`)).exchanges)
    }
    expectRows(exchanges)
  })

  it("return rows with fetch in Node", async () => {
    const program = findSamples("Node.js Fetch").map((sample) => `await (await ${fillSample(sample).trim()}).json()`)
    const { exchanges } = await run(process.execPath, "--input-type=module", "--eval", program.join("\n"))
    expectRows(exchanges)
  })

  it("return rows and print them with Python's http.client", async () => {
    const { exchanges, stdout } = await run(
      "python3",
      "-c",
      findSamples("Python http.client").map(fillSample).join("\n")
    )
    expectRows(exchanges)
    expect(stdout.match(/^\{"data":/gm)).toHaveLength(operations().length)
  })
})

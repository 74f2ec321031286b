/** The docs over HTTP: their links work, their calls return the documented responses, and they need no key or credits. */
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http"
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib"
import { catalog } from "@larder/pipelines/commodities/catalog.ts"
import { endpoints, templateOf } from "@larder/schemas"
import { guidePaths } from "@larder/serve/docs/guides.ts"
import { describe, expect, it } from "vitest"
import { readme } from "../house/documents.ts"
import { administer } from "../support/api/operator.ts"
import { useSharedServer } from "../support/api/server.ts"
import { dataHost } from "../support/shared-server.ts"

const api = useSharedServer()

interface Page {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The bytes as they were sent. */
  readonly body: Buffer
}

/** Pages are not JSON, so the checked client cannot request them. */
const getPage = (path: string, method = "GET", headers: OutgoingHttpHeaders = {}): Promise<Page> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api.server().api)
    request({ hostname, port, path, method, headers }, (response) => {
      const pieces: Array<Buffer> = []
      response.on("data", (piece: Buffer) => pieces.push(piece)).on("error", reject)
      response.on("end", () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) })
      })
    })
      .on("error", reject)
      .end()
  })
const getText = async (path: string) => (await getPage(path)).body.toString()

const allPaths = [...guidePaths, ...guidePaths.map((path) => `${path}.md`), "/docs/reference", "/llms.txt"]
const types = { md: "markdown", txt: "plain", html: "html" }

describe("the pages of the docs", () => {
  it.each(allPaths)("serves %s without a key, with a request id and a strict content policy", async (path) => {
    const { headers, status } = await getPage(path)
    const type = Object.entries(types).find(([ending]) => path.endsWith(`.${ending}`))?.[1] ?? "html"
    expect([status, headers["content-type"]]).toEqual([200, `text/${type}; charset=utf-8`])
    expect(headers["x-request-id"]).toMatch(/^req_/)
    expect(headers).not.toHaveProperty("x-credits-charged")
    const policy = headers["content-security-policy"]
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; .*connect-src 'self'.*frame-ancestors 'none'/)
    expect(policy).not.toMatch(/script-src[^;]*unsafe|https?:|\*/)
  })

  it.each(["/", ...allPaths])("accepts only GET at %s, and responds with 404 to a trailing slash", async (path) => {
    const posted = await getPage(path, "POST")
    expect([posted.status, posted.headers.allow]).toEqual([405, "GET, OPTIONS"])
    expect((await getPage(path, "HEAD")).status).toBe(405)
    expect((await getPage(path, "OPTIONS")).status).toBe(204)
    if (path !== "/") expect((await getPage(`${path}/`)).status).toBe(404)
  })

  it("redirects the root to /docs", async () => {
    const { headers, status } = await getPage("/")
    expect([status, headers.location]).toEqual([302, "/docs"])
    expect(headers.link).toContain('</openapi.json>; rel="service-desc"')
  })

  it("links to the console only if its address for the reader is known", async () => {
    const findLink = (text: string) => /<a class="aside" href="([^"]+)">Console</.exec(text)?.[1]
    for (const path of ["/docs", "/docs/reference"]) {
      expect(findLink(await getText(path))).toBe(`${api.server().console}/`)
      const { body } = await getPage(path, "GET", { host: "api.example.com" })
      expect(findLink(body.toString())).toBe(undefined)
    }
  })

  it("describes each series in the words of the catalog", async () => {
    const guide = await getText("/docs/commodities.md")
    const { metrics, series } = catalog()
    const titles = new Map(metrics.map(({ metric_name, title }) => [metric_name, title]))
    const described = [...guide.matchAll(/^\| `([a-z-]+)` \| (.+?)\. (?:Daily|Weekly|Monthly)[.,].*$/gm)]
    expect(described.map(([, slug, title]) => [slug, title])).toEqual(
      series.map(({ metric_name, slug }) => [slug, titles.get(metric_name)])
    )
    const lineOf = (slug: string) => described.find((match) => match[1] === slug)?.[0]
    expect(lineOf("butter-exch-spot-close-daily")).toMatch(/ Daily\. US dollars per pound\. \| .*CME Group/)
    expect(lineOf("cheese-barrel-sales-price-weekly")).toMatch(
      /ending Saturday\. US dollars per pound\. \| The price as sold/
    )
  })

  it("contains no broken link", async () => {
    const broken: Array<string> = []
    const seen = new Set<string>()
    for (const from of [...guidePaths, "/docs/reference"]) {
      const html = await getText(from)
      for (const [, href = ""] of html.matchAll(/(?:href|src)="([^"]+)"/g)) {
        const [path = "", anchor] = href.split("#")
        if (href === `${api.server().console}/`) continue
        if (/^https?:/.test(href))
          expect(new URL(href).hostname, "the data's own sources").toMatch(/\.usda\.gov$|\.nal\.usda\.gov$/)
        else if (anchor !== undefined) expect(path === "" ? html : await getText(path)).toContain(`id="${anchor}"`)
        else if (!seen.has(path) && (await getPage(path)).status !== 200) broken.push(`${from} leads to ${href}`)
        seen.add(path)
      }
    }
    expect(broken).toEqual([])
    expect(seen.size).toBeGreaterThan(15)
  })

  it("lets browsers cache scripts for a year, and compresses the large one", async () => {
    const html = await getText("/docs/reference")
    const [, script = ""] = /data-script="([^"]+)"/.exec(html) ?? []
    const { body: whole, headers } = await getPage(script)
    expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable")
    expect(whole.length).toBeGreaterThan(1_000_000)
    for (const [coding, decompress] of [
      ["br", brotliDecompressSync],
      ["gzip", gunzipSync],
      ["zstd", zstdDecompressSync]
    ] as const) {
      const { body, headers } = await getPage(script, "GET", { "accept-encoding": coding })
      expect([headers["content-encoding"], headers.vary]).toEqual([coding, "Accept-Encoding"])
      expect(body.length).toBeLessThan(whole.length / 3)
      expect(decompress(body).equals(whole)).toBe(true)
    }
    expect((await getPage("/docs/assets/scalar.000000000000.js")).status).toBe(404)
    for (const method of ["GET", "POST"]) expect((await getPage("/docs/assets/nothing.css", method)).status).toBe(404)
    expect((await getPage(script, "POST")).status).toBe(405)
  })

  const withAddresses = ["/docs", "/docs.md", "/docs/first-call.md", "/llms.txt"]

  it.each([
    ...["api.example.com", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.1"],
    "not.data.larder.test"
  ])("prints the address of its listener, not the host %s of a request", async (host) => {
    for (const path of withAddresses) {
      const { body, headers } = await getPage(path, "GET", { host, "x-forwarded-host": host })
      const text = body.toString()
      expect(text).toContain(`${api.server().api}/`)
      expect(text + JSON.stringify(headers)).not.toMatch(/evil|<script>alert|api\.example\.com|192\.0\.2\.1|not\.data/)
    }
  })

  it.each([`${dataHost}:8080`, dataHost, "localhost:9000", "127.0.0.2:9000", "[::1]:9000"])(
    "prints the host %s of the request if it is configured or a name of the reader's own machine",
    async (host) => {
      for (const path of withAddresses) {
        expect((await getPage(path, "GET", { host })).body.toString()).toContain(`http://${host}/`)
        const secure = await getPage(path, "GET", { host, "x-forwarded-proto": "https" })
        expect(secure.body.toString()).toContain(`https://${host}/`)
      }
    }
  )
})

describe("llms.txt", () => {
  it("lists every endpoint with its price, every guide, and the address for assistants", async () => {
    const text = await getText("/llms.txt")
    expect(text).toMatch(/^# Larder\n\n> /)
    for (const { credits, path } of endpoints) {
      expect(text).toContain(`\`GET ${templateOf(path)}\``)
      expect(text).toMatch(new RegExp(`${templateOf(path).replaceAll(/[{}]/g, "\\$&")}\`: .*\\. ${credits} credits`))
    }
    expect(text).toContain(`${api.server().api}/mcp`)
    const links = [...text.matchAll(/\]\((http[^)]+)\)/g)].map(([, href = ""]) => new URL(href).pathname)
    expect(links).toEqual(expect.arrayContaining(guidePaths.map((path) => `${path}.md`)))
    for (const path of links) if (path !== "/mcp") expect([path, (await getPage(path)).status]).toEqual([path, 200])
  })
})

interface Fence {
  readonly kind: string
  readonly text: string
  /** The text between this fence and the previous one. */
  readonly precedingText: string
}

/** A call in a guide, and the fence after it with its response. */
interface Documented {
  readonly target: string
  readonly response: Fence | undefined
}

const parseCalls = (markdown: string): ReadonlyArray<Documented> => {
  const fences = [...markdown.matchAll(/([\s\S]*?)^```(\w+)\n([\s\S]*?)^```$/gm)].map(
    ([, precedingText = "", kind = "", text = ""]): Fence => ({ kind, text, precedingText })
  )
  return fences.flatMap(({ kind, text }, at) => {
    if (kind !== "sh") return []
    const next = fences[at + 1]
    const response = next?.kind === "json" || next?.kind === "http" ? next : undefined
    const lines = text
      .replaceAll("\\\n", "")
      .split("\n")
      .filter((line) => line.startsWith("curl "))
    return lines.map((line, i) => {
      const [, target = ""] =
        /^curl (?:-i )?-H "Authorization: Bearer \$LARDER_API_KEY"\s+"http:\/\/[^/]+(\/[^"]*)"$/.exec(line) ?? []
      expect(target, line).not.toBe("")
      return { target, response: i === lines.length - 1 ? response : undefined }
    })
  })
}

/** Differences between a documented value and the response. Guides may omit fields, and the ends of lists. */
const findDifferences = (documented: unknown, actual: unknown, at = "response"): ReadonlyArray<string> => {
  if (Array.isArray(documented)) {
    return documented.flatMap((value, i) =>
      findDifferences(value, Array.isArray(actual) ? actual[i] : undefined, `${at}[${i}]`)
    )
  }
  if (typeof documented !== "object" || documented === null) {
    return documented === actual ? [] : [`${at} is ${JSON.stringify(actual)}, not ${JSON.stringify(documented)}`]
  }
  const actualMembers = new Map(typeof actual === "object" && actual !== null ? Object.entries(actual) : [])
  return Object.entries(documented).flatMap(([name, value]) =>
    findDifferences(value, actualMembers.get(name), `${at}.${name}`)
  )
}

/** Whether a documented record lacks fields of the real one. */
const omitsFields = (documented: unknown, actual: unknown): boolean => {
  if (typeof documented !== "object" || documented === null) return false
  const actualMembers = new Map(typeof actual === "object" && actual !== null ? Object.entries(actual) : [])
  const shown = Object.entries(documented)
  if (!Array.isArray(documented) && shown.length < actualMembers.size) return true
  return shown.some(([name, value]) => omitsFields(value, actualMembers.get(name)))
}

interface Rows {
  readonly data?: ReadonlyArray<{ readonly id?: string }>
  readonly next_cursor?: string | null
}

describe("the calls in the guides and the README", () => {
  it("return the documented responses", async () => {
    const variables = new Map<string, string>()
    const wrong: Array<string> = []
    let calls = 0
    const guides = await Promise.all(guidePaths.map(async (path) => [path, await getText(`${path}.md`)] as const))
    for (const [path, text] of [...guides, ["README.md", readme.text] as const]) {
      for (const { response, target } of parseCalls(text)) {
        const filled = target.replace(/\$([A-Z_]+)/g, (_, name: string) => variables.get(name) ?? `missing-${name}`)
        const reply = await api.get(filled)
        const rows = reply.json as Rows
        if (typeof rows.next_cursor === "string") variables.set("NEXT_CURSOR", rows.next_cursor)
        const [, kind] = /^platform_(store|product)_/.exec(rows.data?.[0]?.id ?? "") ?? []
        if (kind !== undefined) variables.set(`${kind.toUpperCase()}_ID`, rows.data?.[0]?.id ?? "")
        const [head = "", body = ""] =
          response?.kind === "http" ? response.text.split("\n\n") : ["HTTP/1.1 200", response?.text]
        const [status = "", ...headers] = head.split("\n")
        if (status !== `HTTP/1.1 ${reply.status}`) wrong.push(`${path}: ${filled} returns ${reply.status}`)
        for (const line of headers) {
          const [name = "", value = ""] = line.split(": ")
          const actual = reply.headers[name]
          const isVariable = /^x-(request-id|credits-remaining|data-version)$/.test(name)
          if (actual === undefined || (!isVariable && actual !== value))
            wrong.push(`${path}: ${filled} has ${name}: ${actual}`)
        }
        if (body !== "") {
          const documented: unknown = JSON.parse(body)
          wrong.push(...findDifferences(documented, reply.json).map((line) => `${path}: ${line}`))
          const isAnnounced = /some of its fields/i.test(response?.precedingText ?? "")
          if (isAnnounced !== omitsFields(documented, reply.json))
            wrong.push(`${path}: ${filled} ${isAnnounced ? "omits no field" : "omits fields without a note"}`)
        }
        calls++
      }
    }
    expect(wrong).toEqual([])
    expect(calls).toBeGreaterThan(12)
  })

  it("state the credits that a new account really gets", async () => {
    const account = await administer(api.home(), (ledger) => ledger.createAccount({ name: "New" }))
    expect(await getText("/docs/credits.md")).toContain(
      `A new account starts with ${(account.balance_credits / 1000).toFixed(2)} USD`
    )
  })
})

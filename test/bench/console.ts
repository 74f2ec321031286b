/**
 * Measures the pages of the console with a large ledger. A signed-in operator opens all pages in rounds, one at a time,
 * first with the ledger in its folder, then with the same ledger in PostgreSQL.
 */
import path from "node:path"
import { makeBrowser } from "../support/console/browser.ts"
import { startPostgres } from "../support/postgres/server.ts"
import { admin, type Server, start, startServer, waitForExit } from "../support/programs.ts"
import { pricesRequest } from "./api.ts"
import { countRounds, isQuick } from "./effort.ts"
import { makeLargeLedger } from "./large-ledger.ts"
import { fillRequestLog } from "./large-request-log.ts"
import { describeSpread, type Spread } from "./statistics.ts"
import { inTemporaryFolder } from "./temporary-folder.ts"

const accounts = 10
/** Each key calls three endpoints each day: three million daily sums. */
const keysPerAccount = isQuick ? 3 : 300
const rounds = countRounds(30)
const calls = 200

type Environment = Readonly<Record<string, string>>

const runProgram = async (...command: Parameters<typeof start>) => {
  const { code, stderr } = await waitForExit(start(...command))
  if (code !== 0) throw new Error(`${command[0]} ${command[1].join(" ")} exited with ${code}:\n${stderr}`)
}

/** Signs in as an operator of the account of the key. */
const signIn = async (home: string, email: string, server: Server, environment: Environment) => {
  const [account] = await admin<ReadonlyArray<{ readonly id: string }>>(home, ["accounts", "list"], environment)
  const invite = ["people", "invite", "--account", account?.id ?? "", "--operator"]
  const { link } = await admin<{ readonly link: string }>(home, invite, environment)
  const browser = makeBrowser(server.console)
  const { status, text } = await browser.post(new URL(link).pathname, { email, password: "a long enough pass phrase" })
  if (status !== 303) throw new Error(`signing in returned ${status}: ${text}`)
  return browser
}

const findLink = (text: string, pattern: RegExp) => {
  const found = pattern.exec(text)?.[1]
  if (found === undefined) throw new Error(`a page has no link like ${pattern}`)
  return found.replaceAll("&amp;", "&")
}

interface Row extends Spread {
  readonly slowest_ms: number
  readonly bytes: number
}

/** One row per page. */
export const measurePages = async (home: string, key: string, email: string, environment: Environment) => {
  const server = await startServer(home, environment)
  try {
    const browser = await signIn(home, email, server, environment)
    for (let call = 0; call < calls; call++) {
      await (await fetch(server.api + pricesRequest, { headers: { authorization: `Bearer ${key}` } })).text()
    }
    const keys = (await browser.get("/keys")).text
    const ledger = (await browser.get("/billing/ledger")).text
    const keyPage = findLink(keys, /href="(\/keys\/key_[^"/]+)"/)
    const filterByKey = `key=${keyPage.slice("/keys/".length)}`
    const year = `from=${daysAgo(365)}&to=${daysAgo(0)}`
    const pages = {
      overview: "/",
      keys: "/keys",
      "one key": keyPage,
      "create a key": "/keys/new",
      "usage, 31 days": "/usage",
      "usage, a year": `/usage?${year}`,
      "usage, a year of a key": `/usage?${year}&${filterByKey}`,
      "usage, a year of an endpoint": `/usage?${year}&endpoint=/v1/stores`,
      requests: "/requests",
      "requests of a key": `/requests?${filterByKey}`,
      "requests refused": "/requests?status=402",
      billing: "/billing",
      ledger: "/billing/ledger",
      "ledger, next page": findLink(ledger, /href="(\/billing\/ledger\?[^"]*before=[^"]+)"/),
      "ledger, refunds": "/billing/ledger?what=refunds",
      payments: "/billing/payments",
      account: "/account",
      data: "/data",
      runs: "/data/runs",
      feeds: "/data/feeds",
      checks: "/data/checks",
      rejects: "/data/rejects",
      prices: "/data/prices"
    }
    const times = new Map<string, Array<number>>()
    const sizes: Record<string, number> = {}
    for (let round = 0; round < rounds; round++) {
      for (const [name, target] of Object.entries(pages)) {
        const startedAt = performance.now()
        const { status, text } = await browser.get(target)
        const milliseconds = performance.now() - startedAt
        if (status !== 200) throw new Error(`${target} returned ${status}`)
        times.set(name, [...(times.get(name) ?? []), milliseconds])
        sizes[name] = Buffer.byteLength(text)
      }
    }
    const toRow = ([name, milliseconds]: readonly [string, ReadonlyArray<number>]): readonly [string, Row] => [
      name,
      { ...describeSpread(milliseconds), slowest_ms: Math.round(Math.max(...milliseconds)), bytes: sizes[name] ?? 0 }
    ]
    return Object.fromEntries([...times].map(toRow))
  } finally {
    await server.stop()
  }
}

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)

export const measureConsole = (entries: number) =>
  inTemporaryFolder("console", async (home) => {
    await runProgram("larder-ingest", ["all"], { LARDER_HOME: home })
    const directory = path.join(home, "ledger")
    const key = await makeLargeLedger(directory, { entries, accounts, keysPerAccount })
    await fillRequestLog(directory)
    console.log(
      `\nConsole: ${entries} entries of ${accounts} accounts with ${keysPerAccount} keys each, ledger in its folder`
    )
    console.table(await measurePages(home, key, "before@example.com", {}))
    const postgres = await startPostgres()
    try {
      const environment = { LARDER_LEDGER_URL: await postgres.newDatabase() }
      await runProgram("larder-serve", ["ledger", "migrate"], { ...environment, LARDER_HOME: home })
      console.log("The same in PostgreSQL")
      console.table(await measurePages(home, key, "after@example.com", environment))
    } finally {
      await postgres.remove()
    }
  })

/** Files whose database fails while they are read: whoever reads them sees that they are not whole, and the operator why. */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest"
import { breakableWire } from "../ledger/breakable-wire.ts"
import { connected } from "../ledger/outage.ts"
import { operateIn } from "../support/api/operator.ts"
import { startOwnConsole } from "../support/console/served-console.ts"
import { newDatabase } from "../support/postgres/new-database.ts"
import { untilWaitingForLocks } from "../support/postgres/waiting-for-locks.ts"

const database = await newDatabase(inject("postgresUrl"))
const wire = await breakableWire(database)
const site = startOwnConsole({ environment: { LARDER_LEDGER_URL: wire.url } })
beforeAll(() => operateIn(site.home(), database))
afterAll(() => wire.close())

const told = "a download of the console was cut off"

/** The file, and a database that is lost when its head is sent and its rows are asked for. */
const brokenOff = (table: string, ask: () => Promise<Response>) =>
  connected(database, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql.unsafe(`lock table ${table} in access exclusive mode`)
        const response = yield* Effect.promise(ask)
        yield* untilWaitingForLocks(sql)
        wire.cut()
        return response
      })
    )
  )

afterEach(async () => {
  wire.mend()
  while (!(await fetch(`${site.url()}/readyz`)).ok) await sleep(20)
})

describe.each([
  ["/usage.csv", "ledger.usage_of_day", "larder-usage-"],
  ["/usage/statuses.csv", "console.usage_of_status", "larder-statuses-"],
  ["/billing/ledger.csv", "ledger.entry", "larder-ledger-"]
])("%s when its database is lost midway", (path, table, name) => {
  it("is cut off, and the log names the file and the reason, without a secret", async () => {
    const { browser } = await site.signIn()
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
    const before = site.logs().length
    const logged = () => site.logs().slice(before)
    const response = await brokenOff(table, () => fetch(new URL(path, site.url()), { headers: { cookie } }))
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
    await expect.poll(logged).toContain(told)
    const [line = ""] = logged()
      .split("\n")
      .filter((one) => one.includes(told))
    expect(line).toContain(name)
    expect(logged()).toMatch(/(ConsoleUnavailable|LedgerUnavailable)/)
    expect([...browser.cookies.values()].filter((secret) => logged().includes(secret))).toEqual([])
  })
})

/** Calls of two servers that meet a lock, like that of a forgotten session of an operator. Each lock lasts six seconds. */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { describe, expect, inject, it } from "vitest"
import { runThroughOutage, withConnection } from "../ledger/outage.ts"
import { newDatabase } from "../support/postgres/new-database.ts"

/** Milliseconds. Longer than a server waits for the database. */
const lockMs = 6_000

const lock = (url: string, statement: string, params: ReadonlyArray<string>, whileLocked: () => Promise<void>) =>
  withConnection(url, (sql) =>
    sql.withTransaction(Effect.andThen(sql.unsafe(statement, params), Effect.promise(whileLocked)))
  )

describe("a call that meets a lock", () => {
  it("ends with 503 at no cost when its account or all are locked; calls of other accounts succeed", async () => {
    const url = await newDatabase(inject("postgresUrl"))
    await runThroughOutage("locked accounts", url, async ({ actors, observations }) => {
      await lock(url, "select from ledger.account where id = $1 for update", [actors.poor], async () => {
        await sleep(lockMs / 2)
        const before = observations.paid.size
        await sleep(lockMs / 2)
        expect(observations.paid.size).toBeGreaterThan(before)
        expect(new Set(observations.unavailable.map(({ key }) => key.account_id))).toEqual(new Set([actors.poor]))
      })
      await lock(url, "lock table ledger.account in access exclusive mode", [], async () => {
        await sleep(lockMs)
        expect(new Set(observations.unavailable.map(({ key }) => key.account_id))).toEqual(
          new Set([actors.poor, actors.rich])
        )
      })
    })
  })
})

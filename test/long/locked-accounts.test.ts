/** Calls of two servers that meet a lock, as a forgotten session of an operator holds it. Each lasts for six seconds. */
import { setTimeout as sleep } from "node:timers/promises"
import { Effect } from "effect"
import { describe, expect, inject, it } from "vitest"
import { connected, through } from "../ledger/outage.ts"
import { newDatabase } from "../support/postgres/new-database.ts"

/** Longer than a server waits for an answer. */
const lockedFor = 6_000

const lock = (url: string, statement: string, params: ReadonlyArray<string>, whileLocked: () => Promise<void>) =>
  connected(url, (sql) =>
    sql.withTransaction(Effect.andThen(sql.unsafe(statement, params), Effect.promise(whileLocked)))
  )

describe("a call that meets a lock", () => {
  it("ends with 503 at no cost when its account or all are locked; calls of other accounts are answered", async () => {
    const url = await newDatabase(inject("postgresUrl"))
    await through("locked accounts", url, async ({ cast, diary }) => {
      await lock(url, "select from ledger.account where id = $1 for update", [cast.poor], async () => {
        await sleep(lockedFor / 2)
        const before = diary.paid.size
        await sleep(lockedFor / 2)
        expect(diary.paid.size).toBeGreaterThan(before)
        expect(new Set(diary.unavailable.map(({ key }) => key.account_id))).toEqual(new Set([cast.poor]))
      })
      await lock(url, "lock table ledger.account in access exclusive mode", [], async () => {
        await sleep(lockedFor)
        expect(new Set(diary.unavailable.map(({ key }) => key.account_id))).toEqual(new Set([cast.poor, cast.rich]))
      })
    })
  })
})

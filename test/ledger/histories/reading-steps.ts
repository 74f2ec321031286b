/** What an operator reads: statements, usage, and the result of a verification. */
import assert from "node:assert/strict"
import type { UsageOfDay } from "@larder/serve/ledger"
import { sumUsage } from "@larder/serve/ledger/summed-usage.ts"
import { Stream } from "effect"
import fc from "fast-check"
import { timeOf } from "./model.ts"
import { choice } from "./operator-steps.ts"
import { pick, step } from "./steps.ts"

/** A store may keep the newest entries in a different place from older ones; a statement contains all of them. */
const statement = step("read statement", fc.record({ server: choice, account: choice }), {
  isPossible: ({ isDown }) => !isDown,
  run: async (world, { account, server }) => {
    const { id } = pick(world.model.accounts, account)
    const { administration } = world.server(world.serverAt(server))
    const entries = await world.run(Stream.runCollect(administration.entriesOf(id)))
    assert.deepEqual(entries, await world.subject.entriesOf(id))
    world.note("statement")
  }
})

/** The usage of days around now. */
const usage = step(
  "read usage",
  fc.record({ server: choice, account: choice, before: fc.nat(60), after: fc.nat(60) }),
  {
    isPossible: ({ isDown, traits }) => traits.supportsUsage && !isDown,
    run: async (world, { account, after, before, server }) => {
      const { model } = world
      const owner = pick(model.accounts, account)
      const dayOf = (days: number) => timeOf(model.now + days * 86_400_000).slice(0, 10)
      const days = { from: dayOf(-before), to: dayOf(after) }
      const { administration } = world.server(world.serverAt(server))
      const summed = await world.run(administration.summedUsage({ account_id: owner.id, ...days }))
      assert.deepEqual(summed, sumUsage(model.usage(owner, days.from, days.to)))
      const rows = await world.run(administration.usage({ account_id: owner.id, ...days }))
      assert.deepEqual(formatRows(rows), formatRows(model.usage(owner, days.from, days.to)))
      world.note("usage")
    }
  }
)

const formatRows = (rows: ReadonlyArray<UsageOfDay>) =>
  rows.map(({ calls, credits, day, endpoint, key_id }) => [day, key_id, endpoint, calls, credits].join(" ")).sort()

const verify = step("verify", fc.record({ server: choice }), {
  isPossible: ({ isDown, traits }) => traits.supportsUsage && !isDown,
  run: async (world, { server }) => {
    const { model } = world
    const verification = await world.run(world.server(world.serverAt(server)).administration.verify({}))
    assert.deepEqual(verification, {
      accounts: model.accounts.length,
      keys: model.keys.length,
      entries: model.accounts.reduce((count, { expected }) => count + expected.length, 0),
      balance_credits: model.accounts.reduce((sum, account) => sum + model.balance(account), 0),
      problems: []
    })
    world.note("verified")
  }
})

export const readingSteps = [
  { weight: 4, arbitrary: statement },
  { weight: 1, arbitrary: usage },
  { weight: 1, arbitrary: verify }
]

/** The simulator's events, sent to a webhook. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { asked, folder, good, onPage, simulatorIn } from "@larder/test/support/serve/simulator.ts"
import { Effect } from "effect"

interface Arrived {
  readonly type: string
  readonly payment: string
  readonly body: string
  readonly signature: string | null
}

/** A console's webhook that records the events. It answers with the given statuses, and then with 200. */
const webhook = Effect.gen(function* () {
  const arrived: Array<Arrived> = []
  const statuses: Array<number> = []
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const chunk of request) body += chunk
    const { data, type } = JSON.parse(body)
    const signature = request.headers["simulator-signature"]
    if (request.url === "/webhooks/simulator" && request.method === "POST") {
      const payment = data.object.metadata.payment_id
      arrived.push({ type, payment, body, signature: typeof signature === "string" ? signature : null })
    }
    response.writeHead(statuses.shift() ?? 200).end()
  })
  yield* Effect.acquireRelease(
    Effect.promise(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))),
    () =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      })
  )
  const { port } = server.address() as AddressInfo // a server that listens on a port has an `AddressInfo`
  return { arrived, statuses, url: () => `http://127.0.0.1:${port}` }
})

const until = (isSo: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (isSo() ? Effect.void : Effect.andThen(Effect.sleep("10 millis"), until(isSo))))

const place = Effect.gen(function* () {
  return { home: yield* folder, ...(yield* webhook) }
})

const openIn = Effect.fnUntraced(function* ({ arrived, home, statuses, url }: Effect.Success<typeof place>) {
  const simulator = yield* simulatorIn(home, url)
  const { processor } = simulator
  const buy = Effect.fnUntraced(function* (id: string) {
    const { reference } = yield* processor.checkout({ ...asked(id), ...onPage })
    yield* simulator.pay(reference, good)
    return reference
  })
  const believed = ({ body, signature }: Arrived) => Effect.isSuccess(processor.readEvent(body, () => signature))
  return { arrived, statuses, simulator, buy, believed }
})
const opened = Effect.flatMap(place, openIn)

const told = (arrived: ReadonlyArray<Arrived>) => arrived.map(({ payment, type }) => `${type} ${payment}`)

describe("events of the simulator", () => {
  it.live("sends signed events in the order in which things happened", () =>
    Effect.gen(function* () {
      const { arrived, believed, buy, simulator } = yield* opened
      yield* Effect.forkScoped(simulator.sendEvents)
      const reference = yield* buy("pay_1")
      yield* until(() => arrived.length === 1)
      const dispute = yield* simulator.dispute(reference)
      yield* simulator.close(reference, dispute, "won")
      yield* until(() => arrived.length === 3)
      assert.deepStrictEqual(told(arrived), [
        "checkout.session.completed pay_1",
        "charge.dispute.created pay_1",
        "charge.dispute.closed pay_1"
      ])
      for (const event of arrived) assert.isTrue(yield* believed(event))
    }).pipe(Effect.scoped)
  )

  it.live("sends an event twice when that fault is simulated", () =>
    Effect.gen(function* () {
      const { arrived, buy, simulator } = yield* opened
      yield* simulator.setFaults({ events: "twice" })
      yield* buy("pay_1")
      yield* Effect.forkScoped(simulator.sendEvents)
      yield* until(() => arrived.length === 2)
      assert.strictEqual(arrived[0]?.body, arrived[1]?.body)
    }).pipe(Effect.scoped)
  )

  it.live("sends events in reverse order when that fault is simulated", () =>
    Effect.gen(function* () {
      const { arrived, buy, simulator } = yield* opened
      yield* simulator.setFaults({ events: "reversed" })
      const reference = yield* buy("pay_1")
      yield* simulator.refund(reference, 1000)
      yield* Effect.forkScoped(simulator.sendEvents)
      yield* until(() => arrived.length === 2)
      assert.deepStrictEqual(told(arrived), ["charge.refunded pay_1", "checkout.session.completed pay_1"])
    }).pipe(Effect.scoped)
  )

  it.live("sends a forged event first when that fault is simulated, and its signature is rejected", () =>
    Effect.gen(function* () {
      const { arrived, believed, buy, simulator } = yield* opened
      yield* simulator.setFaults({ events: "forged" })
      yield* buy("pay_1")
      yield* Effect.forkScoped(simulator.sendEvents)
      yield* until(() => arrived.length === 2)
      assert.deepStrictEqual(yield* Effect.forEach(arrived, believed), [false, true])
    }).pipe(Effect.scoped)
  )

  it.live("drops events when that fault is simulated, and never sends them later", () =>
    Effect.gen(function* () {
      const { arrived, buy, simulator } = yield* opened
      yield* simulator.setFaults({ events: "none" })
      yield* buy("pay_1")
      yield* Effect.forkScoped(simulator.sendEvents)
      while ((yield* simulator.events(9)).some(({ answer }) => answer === null)) yield* Effect.sleep("10 millis")
      yield* simulator.setFaults({ events: "once" })
      yield* buy("pay_2")
      yield* until(() => arrived.length > 0)
      assert.deepStrictEqual(told(arrived), ["checkout.session.completed pay_2"])
    }).pipe(Effect.scoped)
  )

  it.live("sends an event again until it is taken, also after a restart of the server", () =>
    Effect.gen(function* () {
      const found = yield* place
      const { arrived, home, statuses, url } = found
      yield* Effect.gen(function* () {
        const { buy, simulator } = yield* openIn(found)
        statuses.push(500, 400)
        yield* buy("pay_1")
        yield* Effect.raceFirst(
          simulator.sendEvents,
          until(() => arrived.length === 2)
        )
      }).pipe(Effect.scoped)
      assert.deepStrictEqual(statuses, [])
      const next = yield* simulatorIn(home, url)
      yield* Effect.forkScoped(next.sendEvents)
      yield* until(() => arrived.length === 3)
      assert.strictEqual(new Set(arrived.map(({ body }) => body)).size, 1)
      while ((yield* next.events(9))[0]?.answer !== "200") yield* Effect.sleep("10 millis")
    }).pipe(Effect.scoped)
  )
})

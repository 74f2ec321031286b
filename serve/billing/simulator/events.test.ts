/** The simulator's events, sent to a webhook. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import {
  newRequest,
  openSimulatorIn,
  pageDetails,
  temporaryFolder,
  validCard
} from "@larder/test/support/serve/simulator.ts"
import { Effect } from "effect"

interface ReceivedEvent {
  readonly type: string
  readonly payment: string
  readonly body: string
  readonly signature: string | null
}

/** A console's webhook that records the events. It responds with the given statuses, and then with 200. */
const startWebhook = Effect.gen(function* () {
  const received: Array<ReceivedEvent> = []
  const statuses: Array<number> = []
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const chunk of request) body += chunk
    const { data, type } = JSON.parse(body)
    const signature = request.headers["simulator-signature"]
    if (request.url === "/webhooks/simulator" && request.method === "POST") {
      const payment = data.object.metadata.payment_id
      received.push({ type, payment, body, signature: typeof signature === "string" ? signature : null })
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
  return { received, statuses, url: () => `http://127.0.0.1:${port}` }
})

const waitUntil = (isDone: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (isDone() ? Effect.void : Effect.andThen(Effect.sleep("10 millis"), waitUntil(isDone))))

const setUp = Effect.gen(function* () {
  return { home: yield* temporaryFolder, ...(yield* startWebhook) }
})

const openSimulator = Effect.fnUntraced(function* ({ received, home, statuses, url }: Effect.Success<typeof setUp>) {
  const simulator = yield* openSimulatorIn(home, url)
  const { processor } = simulator
  const buy = Effect.fnUntraced(function* (id: string) {
    const { reference } = yield* processor.checkout({ ...newRequest(id), ...pageDetails })
    yield* simulator.pay(reference, validCard)
    return reference
  })
  const isAccepted = ({ body, signature }: ReceivedEvent) =>
    Effect.isSuccess(processor.readEvent(body, () => signature))
  return { received, statuses, simulator, buy, isAccepted }
})
const openNewSimulator = Effect.flatMap(setUp, openSimulator)

const summarise = (received: ReadonlyArray<ReceivedEvent>) => received.map(({ payment, type }) => `${type} ${payment}`)

describe("events of the simulator", () => {
  it.live("sends signed events in chronological order", () =>
    Effect.gen(function* () {
      const { received, isAccepted, buy, simulator } = yield* openNewSimulator
      yield* Effect.forkScoped(simulator.sendEvents)
      const reference = yield* buy("pay_1")
      yield* waitUntil(() => received.length === 1)
      const refund = yield* simulator.refund(reference, 1000)
      yield* simulator.failRefund(reference, refund)
      yield* waitUntil(() => received.length === 3)
      assert.deepStrictEqual(summarise(received), [
        "checkout.session.completed pay_1",
        "charge.refunded pay_1",
        "refund.failed pay_1"
      ])
      for (const event of received) assert.isTrue(yield* isAccepted(event))
    }).pipe(Effect.scoped)
  )

  it.live("sends an event again until it is accepted, even after a restart of the server", () =>
    Effect.gen(function* () {
      const environment = yield* setUp
      const { received, home, statuses, url } = environment
      yield* Effect.gen(function* () {
        const { buy, simulator } = yield* openSimulator(environment)
        statuses.push(500, 400)
        yield* buy("pay_1")
        yield* Effect.raceFirst(
          simulator.sendEvents,
          waitUntil(() => received.length === 2)
        )
      }).pipe(Effect.scoped)
      assert.deepStrictEqual(statuses, [])
      const next = yield* openSimulatorIn(home, url)
      yield* Effect.forkScoped(next.sendEvents)
      yield* waitUntil(() => received.length === 3)
      assert.strictEqual(new Set(received.map(({ body }) => body)).size, 1)
      while ((yield* next.listEvents(9))[0]?.answer !== "200") yield* Effect.sleep("10 millis")
    }).pipe(Effect.scoped)
  )
})

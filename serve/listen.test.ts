import { once } from "node:events"
import { connect } from "node:net"
import { setImmediate as endOfTurn } from "node:timers/promises"
import { Effect, Exit, Scope } from "effect"
import { H3 } from "h3"
import { expect, it } from "vitest"
import { listen } from "./listen.ts"

const call = "GET / HTTP/1.1\r\nhost: larder\r\n\r\n"

/** Nothing else of this process runs meanwhile, as in a long turn of the event loop. */
const block = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

it("answers a call that came on a kept connection while a stopping server was busy for longer than it waits", async () => {
  const scope = Scope.makeUnsafe()
  const app = new H3().get("/", () => "answered")
  const place = { what: "server", host: "127.0.0.1", port: 0, setting: "LARDER_PORT" }
  const url = new URL(await Effect.runPromise(Scope.provide(listen(app, place), scope)))
  const socket = connect(Number(url.port), url.hostname).setEncoding("utf8")
  socket.write(call)
  await once(socket, "data")

  const closed = Effect.runPromise(Scope.close(scope, Exit.void))
  await endOfTurn() // from here the timers are next
  let answer = ""
  socket.on("data", (piece: string) => {
    answer += piece
  })
  socket.write(call)
  block(1_500)
  await Promise.all([once(socket, "close"), closed])
  expect(answer).toMatch(/^HTTP\/1\.1 200 .*connection: close.*answered$/is)
})

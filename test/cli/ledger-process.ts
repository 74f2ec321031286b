/** Holds the ledger in a separate process. Reads keys from stdin, one per line, and prints the outcome of a call with each. */
import { createInterface } from "node:readline"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Stream } from "effect"
import { holdLedger } from "./ledger-holder.ts"

Effect.gen(function* () {
  const call = yield* holdLedger(process.argv[2] ?? "")
  yield* Console.log("ready")
  yield* Stream.fromAsyncIterable(createInterface({ input: process.stdin }), String).pipe(
    Stream.runForEach((token) => Effect.flatMap(call(token), Console.log))
  )
}).pipe(Effect.scoped, NodeRuntime.runMain)

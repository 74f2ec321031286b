/** Opens depots over the network, as the programs do. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { RequestLimits } from "@larder/warehouse/depot/requests.ts"
import { s3Depot } from "@larder/warehouse/depot/s3.ts"
import { Duration, Effect, Layer } from "effect"
import type { HttpClient } from "effect/http/HttpClient"
import { s3Service } from "./s3-service.ts"

/** Provides a new HTTP client, which is closed with the scope. */
export const withClient = <A, E, R>(work: Effect.Effect<A, E, R | HttpClient>) =>
  Effect.flatMap(Layer.build(NodeHttpClient.layerUndici), (client) => Effect.provide(work, client))

/** Retries after a millisecond, and less often than by default. */
export const withQuickRetries = Effect.provideService(RequestLimits, {
  idleTimeout: Duration.seconds(30),
  firstRetryInterval: Duration.millis(1),
  maxRetryInterval: Duration.millis(1),
  maxAttempts: 4
})

/** A bucket, and the depot in it. */
export const aBucket = Effect.gen(function* () {
  const service = yield* s3Service
  return { service, depot: yield* withClient(s3Depot(service.settings)) }
})

/** Serves a folder with Effect's web server, as an example of any web server. */
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpStaticServer from "effect/http/HttpStaticServer"

/** Returns the address of the server, which is closed with the scope. */
export const staticHost = (folder: string) =>
  Effect.gen(function* () {
    const services = yield* Layer.build(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" }))
    return yield* Effect.gen(function* () {
      const server = yield* HttpServer.HttpServer
      yield* server.serve(yield* HttpStaticServer.make({ root: folder }))
      return HttpServer.formatAddress(server.address)
    }).pipe(Effect.provide(services))
  })

/**
 * Bare h3: one handler that returns the same bytes and headers as fast as h3 can. The response is JSON in the first
 * argument. Prints its address.
 */
import { H3, HTTPResponse, serve } from "h3"

const { body, headers } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly body: string
  readonly headers: Record<string, string>
}
const app = new H3({ silent: true })
app.get("/**", () => new HTTPResponse(body, { headers }))
const server = serve(app, { hostname: "127.0.0.1", port: 0, silent: true, gracefulShutdown: false })
await server.ready()
console.log(JSON.stringify({ api: server.url?.replace(/\/$/, "") }))

/**
 * Bare h3: one handler that returns the same bytes and headers, with h3's own response, or with its fastest one, whose
 * headers Node gets as they are. The response is JSON in the first argument. Prints its address.
 */
import { H3, HTTPResponse, serve } from "h3"
import { FastResponse } from "srvx"

const { body, headers, isFastest } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly body: string
  readonly headers: Record<string, string>
  readonly isFastest?: boolean
}
const respond = isFastest ? () => new FastResponse(body, { headers }) : () => new HTTPResponse(body, { headers })
const app = new H3({ silent: true })
app.get("/**", respond)
const server = serve(app, { hostname: "127.0.0.1", port: 0, silent: true, gracefulShutdown: false })
await server.ready()
console.log(JSON.stringify({ api: server.url?.replace(/\/$/, "") }))

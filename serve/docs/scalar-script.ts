/**
 * The browser build of Scalar, which renders the reference; about 4 MB. The only official package that contains it
 * without two hundred dependencies is a Fastify plugin that serves the script as a route. So the plugin gets a stub
 * with the few parts of Fastify that it uses, and its route is called once. Nothing is loaded before a reader opens the
 * reference.
 */
import { type DocsAsset, makeDocsAsset } from "./assets.ts"

interface Route {
  readonly url: string
  readonly handler: (request: object, reply: object) => unknown
}
/** Our own type for the plugin: the package's types need Fastify, which is not installed. */
type Plugin = (fastify: object, options: object, done: () => void) => void

const isPlugin = (value: unknown): value is Plugin => typeof value === "function"

const loadScript = async (): Promise<string> => {
  const { default: plugin }: { readonly default: unknown } = await import("@scalar/fastify-api-reference")
  const routes: Array<Route> = []
  let script: unknown
  if (isPlugin(plugin)) {
    const fastify = { hasPlugin: () => false, route: (route: Route) => routes.push(route) }
    plugin(fastify, { routePrefix: "/docs", configuration: { url: "/openapi.json" } }, () => undefined)
    const reply = {
      header: () => reply,
      send: (body: unknown) => {
        script = body
        return reply
      }
    }
    routes.find(({ url }) => url.endsWith("/scalar.js"))?.handler({}, reply)
  }
  if (typeof script === "string") return script
  throw new Error("@scalar/fastify-api-reference no longer serves /js/scalar.js; see serve/docs/scalar-script.ts")
}

let loading: Promise<DocsAsset> | undefined
/** Loaded once. A failure is not cached: the next request tries again. */
export const scalarScript = (): Promise<DocsAsset> => {
  loading ??= loadScript()
    .then((script) => makeDocsAsset("scalar", "js", script))
    .catch((error: unknown) => {
      loading = undefined
      throw error
    })
  return loading
}

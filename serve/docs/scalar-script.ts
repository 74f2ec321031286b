/**
 * The browser build of Scalar, which renders the reference. The only official package with that build and without two
 * hundred dependencies is a Fastify plugin that serves the script as a route. So the plugin gets a stub with the few
 * parts of Fastify that it uses, and its route is called once. Nothing is loaded before a reader opens the reference.
 */
import { hash } from "node:crypto"
import { makeSharedBody, type SharedBody } from "../api/index.ts"

export interface ScalarScript {
  /** Name that changes with the content. */
  readonly name: string
  /** Four megabytes. */
  readonly body: SharedBody
}

interface Route {
  readonly url: string
  readonly handler: (request: object, reply: object) => unknown
}
/** The type of `@scalar/fastify-api-reference` here. Its own types need Fastify, which is not installed. */
type Plugin = (fastify: object, options: object, done: () => void) => void

const isPlugin = (value: unknown): value is Plugin => typeof value === "function"

const scriptOf = async (): Promise<string> => {
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
  throw new Error(
    "@scalar/fastify-api-reference serves no script /js/scalar.js any more; see serve/docs/scalar-script.ts"
  )
}

const load = async (): Promise<ScalarScript> => {
  const script = await scriptOf()
  return { name: `scalar.${hash("sha256", script, "hex").slice(0, 12)}.js`, body: makeSharedBody(script) }
}

let loading: Promise<ScalarScript> | undefined
/** Loaded once. A failure is not cached: the next request tries again. */
export const scalarScript = (): Promise<ScalarScript> => {
  loading ??= load().catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

/**
 * Proxies from the environment: `HTTPS_PROXY` for https addresses, `HTTP_PROXY` for http ones, and `NO_PROXY` for hosts
 * without a proxy, as is this machine. The same names in lower case take precedence. A proxy resolves names itself, so
 * `private-hosts.ts` cannot check them: addresses of a store list go through one only with `LARDER_PROXY_FOR_STORES=yes`.
 * The address of a proxy may contain a password and is never quoted.
 */
import type { LookupFunction } from "node:net"
import type { Dispatcher } from "@effect/platform-node/Undici"
import { failSetting, isLoopback, yesOrNoSetting } from "@larder/schemas"
import { Config, Effect, Option } from "effect"

export interface Proxies {
  readonly http: string
  readonly https: string
  /** Hosts without a proxy, as `NO_PROXY` lists them. */
  readonly exceptions: string
}

const setting = (name: string) =>
  Config.all([Config.option(Config.String(name.toLowerCase())), Config.option(Config.String(name))]).pipe(
    Config.map(([lower, upper]) => Option.getOrElse(lower, () => Option.getOrElse(upper, () => "")).trim())
  )

/** `proxy.example.com:3128` is also accepted, as in other programs. */
const proxySetting = (name: string) =>
  setting(name).pipe(
    Config.mapEffect((text) => {
      if (text === "") return Effect.succeed("")
      const address = URL.parse(text.includes("://") ? text : `http://${text}`)
      if (address !== null && /^https?:$/.test(address.protocol)) return Effect.succeed(address.href)
      return failSetting(`${name} is not the address of a proxy, such as http://proxy.example.com:3128`)
    })
  )

export const noProxies: Proxies = { http: "", https: "", exceptions: "" }

export const proxies = Config.all({
  http: proxySetting("HTTP_PROXY"),
  https: proxySetting("HTTPS_PROXY"),
  exceptions: setting("NO_PROXY")
})

export const proxyForStores = yesOrNoSetting("LARDER_PROXY_FOR_STORES")

/** The connection to the proxy failed, not the one to the source behind it. */
export class ProxyUnreachable extends Error {
  constructor(cause: Error) {
    super("the proxy cannot be reached", { cause })
  }
}

/**
 * Returns the variable that names the proxy of an address, if any is set. Ignores `NO_PROXY`. Requests to this machine use
 * none: over plain HTTP, the key for a mirror would leave the machine. undici would use the HTTP proxy for https, too.
 */
export const proxyVariable = (proxies: Proxies, address: string) => {
  const url = new URL(address)
  if (isLoopback(url)) return undefined
  if (url.protocol === "https:") return proxies.https === "" ? undefined : "HTTPS_PROXY"
  return proxies.http === "" ? undefined : "HTTP_PROXY"
}

interface ConnectOptions {
  readonly timeout: number
  /** Replaces the lookup of the system, if no proxy resolves the name. */
  readonly lookup?: LookupFunction
}

/** Makes a dispatcher that sends requests through these proxies. Closed with the scope. */
export const makeDispatcher = (configured: Proxies, connect: ConnectOptions) =>
  Effect.acquireRelease(
    Effect.promise(async (): Promise<{ send: Dispatcher; all: ReadonlyArray<Dispatcher> }> => {
      const { Agent, buildConnector, EnvHttpProxyAgent, Pool } = await import("@effect/platform-node/Undici")
      const direct = new Agent({ connect })
      if (configured.http === "" && configured.https === "") return { send: direct, all: [direct] }
      const connectToProxy = buildConnector({ timeout: connect.timeout })
      const proxied = new EnvHttpProxyAgent({
        connect,
        requestTls: { timeout: connect.timeout },
        httpProxy: configured.http,
        httpsProxy: configured.https,
        noProxy: configured.exceptions,
        clientFactory: (origin: URL) =>
          new Pool(origin, {
            connect: (options, done) =>
              connectToProxy(options, (...[error, socket]) =>
                error === null ? done(null, socket) : done(new ProxyUnreachable(error), null)
              )
          })
      })
      const send = direct.compose(
        (dispatch) => (options, handler) =>
          proxyVariable(configured, String(options.origin)) === undefined
            ? dispatch(options, handler)
            : proxied.dispatch(options, handler)
      )
      return { send, all: [direct, proxied] }
    }),
    ({ all }) => Effect.promise(() => Promise.all(all.map((dispatcher) => dispatcher.destroy())))
  ).pipe(Effect.map(({ send }) => send))

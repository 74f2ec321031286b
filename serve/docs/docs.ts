/**
 * The docs of the API: guides, the reference, and the same content for language models. The API's own listener serves
 * them, so that calls from the reference stay on one origin. They need no key and cost nothing.
 */
import { randomBytes } from "node:crypto"
import { noSuchEndpoint } from "@larder/schemas"
import type { H3, H3Event } from "h3"
import { type ApiResponse, type Listener, makeSharedBody, type SharedBody, sampleLine } from "../api/index.ts"
import { type DocsAsset, docsAssets } from "./assets.ts"
import { replacePlaceholders } from "./facts.ts"
import { findGuide, guidePaths } from "./guides.ts"
import { referencePath, renderGuide, renderReference } from "./layout.ts"
import { renderLlmsText } from "./llms.ts"
import { renderMarkdown } from "./markdown.ts"
import { scalarScript } from "./scalar-script.ts"

/** Content security policy: allows only content of this origin. */
const makeContentPolicy = (sources: ReadonlyArray<string> = ["style-src 'self'", "img-src 'self'"]) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    ...sources,
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'"
  ].join("; ")

/**
 * Scalar adds style sheets, which carry the nonce, and styles of elements. Its icons may be `data:` URLs. It needs no
 * inline scripts and no `unsafe-eval`.
 */
const makeReferencePolicy = (nonce: string) =>
  makeContentPolicy([
    `style-src 'self' 'nonce-${nonce}'`,
    `style-src-elem 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:"
  ])

const makeDocumentHeaders = (type: string, policy = makeContentPolicy()) => ({
  "content-type": type,
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache"
})
const page = "text/html; charset=utf-8"
const markdown = "text/markdown; charset=utf-8"
const plain = "text/plain; charset=utf-8"

/** The address at which the reader reached this server. Behind a proxy that terminates TLS, the proxy states the scheme. */
const readOrigin = ({ req, url }: H3Event): string => {
  const isSecure = req.headers.get("x-forwarded-proto") === "https" || url.protocol === "https:"
  return `${isSecure ? "https" : "http"}://${url.host}`
}

/** The values, other than the path, that a rendered document depends on. */
interface Variables {
  readonly api: string
  readonly console: string | undefined
  readonly samples: string | undefined
}
type Render = (variables: Variables) => string | Promise<string>

/** Readers use few addresses. A client that invents others, such as ports, only causes more rendering. */
const maxCached = 200

/** Caches rendered guides by address and state of the data, so that all readers share one copy. */
const makeRenderCache = () => {
  const bodies = new Map<string, Promise<SharedBody>>()
  return (path: string, variables: Variables, render: Render): Promise<SharedBody> => {
    const key = JSON.stringify([path, variables.api, variables.console, variables.samples])
    const body = bodies.get(key) ?? Promise.resolve(render(variables)).then(makeSharedBody)
    if (bodies.size >= maxCached) bodies.clear()
    bodies.set(key, body)
    return body
  }
}

export const addDocs = (app: H3, needs: Listener): void => {
  const {
    consoleFor,
    respondUncharged,
    get,
    isAtOwnHost,
    listening,
    publicUrl,
    refuse,
    respond,
    respondShared,
    samples
  } = needs
  /** Readers copy this address into calls with their key, so the host of the request alone never determines it. */
  const findApiUrl = (event: H3Event) => publicUrl ?? (isAtOwnHost(event) ? readOrigin(event) : listening())
  const findConsoleUrl = (event: H3Event) => consoleFor(isAtOwnHost(event) ? event.url.hostname : undefined)
  const serve = (path: string, respondTo: (event: H3Event) => Promise<ApiResponse>) =>
    app.all(
      path,
      get(path, async (event) => respond(event, await respondTo(event)))
    )

  serve("/", async () =>
    respondUncharged(302, "", {
      "content-type": plain,
      location: "/docs",
      link: '</docs>; rel="service-doc", </openapi.json>; rel="service-desc"'
    })
  )

  const renderCached = makeRenderCache()
  const serveRendered = (path: string, type: string, render: Render) =>
    app.all(
      path,
      get(path, async (event) => {
        const variables = { api: findApiUrl(event), console: findConsoleUrl(event), samples: samples() }
        return respondShared(
          event,
          await renderCached(path, variables, render),
          respondUncharged(200, "", makeDocumentHeaders(type))
        )
      })
    )

  for (const path of guidePaths) {
    serveRendered(path, page, ({ api, console, samples }) => {
      const guide = findGuide(path)
      return renderGuide(guide, renderMarkdown(replacePlaceholders(guide.markdown, api)), {
        consoleUrl: console,
        samples
      })
    })
    // the notice is below the title, which stays the first line
    serveRendered(`${path}.md`, markdown, ({ api, samples }) =>
      replacePlaceholders(findGuide(path).markdown, api).replace("\n\n", () => `\n\n${sampleLine(samples)}`)
    )
  }
  serveRendered("/llms.txt", plain, ({ api, samples }) => renderLlmsText(api, samples))

  serve(referencePath, async (event) => {
    const nonce = randomBytes(18).toString("base64")
    const options = { consoleUrl: findConsoleUrl(event), samples: samples() }
    const body = await renderReference(nonce, (await scalarScript()).path, options)
    return respondUncharged(200, body, {
      ...makeDocumentHeaders(page, makeReferencePolicy(nonce)),
      "cache-control": "no-store"
    })
  })

  const findAsset = async (path: string): Promise<DocsAsset | undefined> => {
    const scalar = path.startsWith("/docs/assets/scalar.") ? [await scalarScript()] : []
    return [...docsAssets, ...scalar].find((asset) => asset.path === path)
  }

  const assets = "/docs/assets/:name"
  app.all(assets, async (event) => {
    const asset = await findAsset(event.url.pathname)
    if (asset === undefined) return refuse(event, noSuchEndpoint)
    const headers = {
      "content-type": asset.type,
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff"
    }
    return get(assets, () => respondShared(event, asset.body, respondUncharged(200, "", headers)))(event)
  })
}

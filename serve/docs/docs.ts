/**
 * The docs of the API: guides, the reference, and the same content for language models. The API's own listener serves
 * them, so that calls from the reference stay on one origin. They need no key and cost nothing.
 */
import { randomBytes } from "node:crypto"
import { noSuchEndpoint } from "@larder/schemas"
import type { H3, H3Event } from "h3"
import { type ApiResponse, formatSampleLine, type Listener, makeSharedBody, type SharedBody } from "../api/index.ts"
import { type DocsAsset, docsAssets } from "./assets.ts"
import { replacePlaceholders, type ServerFacts } from "./facts.ts"
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
const htmlType = "text/html; charset=utf-8"
const markdownType = "text/markdown; charset=utf-8"
const plainType = "text/plain; charset=utf-8"

/** This server's address for the reader. Behind a proxy that terminates TLS, the proxy states the scheme. */
const readOrigin = ({ req, url }: H3Event): string => {
  const isSecure = req.headers.get("x-forwarded-proto") === "https" || url.protocol === "https:"
  return `${isSecure ? "https" : "http"}://${url.host}`
}

/** The values, other than the path, that a rendered document depends on. */
interface Variables extends ServerFacts {
  readonly console: string | undefined
  readonly sampleNotice: string | undefined
}
type Render = (variables: Variables) => string | Promise<string>

/** Readers use few addresses. A client that invents others, such as ports, only causes more rendering. */
const maxCached = 200

/** Caches rendered documents by path and variables, so that all readers share one copy. Another catalog empties it. */
const makeRenderCache = () => {
  const bodies = new Map<string, Promise<SharedBody>>()
  let commodities: Variables["commodities"] | undefined
  return (path: string, variables: Variables, render: Render): Promise<SharedBody> => {
    if (variables.commodities !== commodities) bodies.clear()
    commodities = variables.commodities
    const key = JSON.stringify([path, variables.api, variables.console, variables.sampleNotice])
    const body = bodies.get(key) ?? Promise.resolve(render(variables)).then(makeSharedBody)
    if (bodies.size >= maxCached) bodies.clear()
    bodies.set(key, body)
    return body
  }
}

export const addDocs = (app: H3, needs: Listener): void => {
  const {
    commodities,
    findConsoleUrl,
    respondUncharged,
    get,
    isAtOwnHost,
    getListenerUrl,
    publicUrl,
    refuse,
    respond,
    respondShared,
    sampleNotice
  } = needs
  /** Readers copy this address into calls with their key, so the host of the request alone never determines it. */
  const findApiUrl = (event: H3Event) => publicUrl ?? (isAtOwnHost(event) ? readOrigin(event) : getListenerUrl())
  const resolveConsoleUrl = (event: H3Event) => findConsoleUrl(isAtOwnHost(event) ? event.url.hostname : undefined)
  const serve = (path: string, respondTo: (event: H3Event) => Promise<ApiResponse>) =>
    app.all(
      path,
      get(path, async (event) => respond(event, await respondTo(event)))
    )

  serve("/", async () =>
    respondUncharged(302, "", {
      "content-type": plainType,
      location: "/docs",
      link: '</docs>; rel="service-doc", </openapi.json>; rel="service-desc"'
    })
  )

  const renderCached = makeRenderCache()
  const serveRendered = (path: string, type: string, render: Render) =>
    app.all(
      path,
      get(path, async (event) => {
        const variables = {
          api: findApiUrl(event),
          commodities: commodities(),
          console: resolveConsoleUrl(event),
          sampleNotice: sampleNotice()
        }
        return respondShared(
          event,
          await renderCached(path, variables, render),
          respondUncharged(200, "", makeDocumentHeaders(type))
        )
      })
    )

  for (const path of guidePaths) {
    serveRendered(path, htmlType, (variables) => {
      const guide = findGuide(path)
      return renderGuide(guide, renderMarkdown(replacePlaceholders(guide.markdown, variables)), {
        consoleUrl: variables.console,
        sampleNotice: variables.sampleNotice
      })
    })
    // the notice is below the title, which stays the first line
    serveRendered(`${path}.md`, markdownType, (variables) =>
      replacePlaceholders(findGuide(path).markdown, variables).replace(
        "\n\n",
        () => `\n\n${formatSampleLine(variables.sampleNotice)}`
      )
    )
  }
  serveRendered("/llms.txt", plainType, ({ api, sampleNotice }) => renderLlmsText(api, sampleNotice))

  serve(referencePath, async (event) => {
    const nonce = randomBytes(18).toString("base64")
    const options = { consoleUrl: resolveConsoleUrl(event), sampleNotice: sampleNotice() }
    const body = await renderReference(nonce, (await scalarScript()).path, options)
    return respondUncharged(200, body, {
      ...makeDocumentHeaders(htmlType, makeReferencePolicy(nonce)),
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

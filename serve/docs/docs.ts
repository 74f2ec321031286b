/**
 * The docs of the API: guides, the reference with its try-out, and the same content for machines. The API's own
 * listener serves them, so that a call that a reader tries out stays on one origin. They need no key and cost nothing.
 */
import { randomBytes } from "node:crypto"
import { noSuchEndpoint } from "@larder/schemas"
import type { H3, H3Event } from "h3"
import { type Answer, type Listener, makeSharedBody, type SharedBody, sampleLine } from "../api/index.ts"
import { type DocsAsset, docsAssets } from "./assets.ts"
import { fillFacts } from "./facts.ts"
import { findGuide, guidePaths } from "./guides.ts"
import { referencePath, renderGuide, renderReference } from "./layout.ts"
import { renderLlmsText } from "./llms.ts"
import { renderMarkdown } from "./markdown.ts"
import { scalarScript } from "./scalar-script.ts"

/** Content security policy: allows only content of this origin. */
const policyOf = (more: ReadonlyArray<string> = ["style-src 'self'", "img-src 'self'"]) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    ...more,
    "connect-src 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'"
  ].join("; ")

/**
 * What the reference needs in addition. Its scripts add style sheets to the page, which carry the nonce, and styles to
 * elements. Its icons may be `data:` URLs. It needs no inline scripts and no `unsafe-eval`.
 */
const referencePolicy = (nonce: string) =>
  policyOf([
    `style-src 'self' 'nonce-${nonce}'`,
    `style-src-elem 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:"
  ])

const documentHeaders = (type: string, policy = policyOf()) => ({
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

const forAYear = "public, max-age=31536000, immutable"

/** The address at which the reader reached this server. Behind a proxy that ends TLS, the proxy states the scheme. */
const addressOf = ({ req, url }: H3Event): string => {
  const isSecure = req.headers.get("x-forwarded-proto") === "https" || url.protocol === "https:"
  return `${isSecure ? "https" : "http"}://${url.host}`
}

/** The variable parts of a guide: addresses, and the notice about samples. */
interface Told {
  readonly api: string
  readonly console: string | undefined
  readonly samples: string | undefined
}

/** Readers use few addresses. A client that invents others, such as ports, only makes the guides render again. */
const mostRendered = 200

/** Rendered guides by address and state of the data, so that all readers share one copy. */
const makeRendered = () => {
  const bodies = new Map<string, Promise<SharedBody>>()
  return (path: string, told: Told, render: (told: Told) => string | Promise<string>): Promise<SharedBody> => {
    const name = JSON.stringify([path, told.api, told.console, told.samples])
    const body = bodies.get(name) ?? Promise.resolve(render(told)).then(makeSharedBody)
    if (bodies.size >= mostRendered) bodies.clear()
    bodies.set(name, body)
    return body
  }
}

export const addDocs = (app: H3, needs: Listener): void => {
  const { consoleFor, free, get, isAtOwnHost, listening, publicUrl, refuse, respond, respondShared, samples } = needs
  /** Readers copy this address into calls that carry their key, so it never comes from the request's host alone. */
  const apiFor = (event: H3Event) => publicUrl ?? (isAtOwnHost(event) ? addressOf(event) : listening())
  const consoleUrlFor = (event: H3Event) => consoleFor(isAtOwnHost(event) ? event.url.hostname : undefined)
  const serve = (path: string, answer: (event: H3Event) => Promise<Answer>) =>
    app.all(
      path,
      get(path, async (event) => respond(event, await answer(event)))
    )

  serve("/", async () =>
    free(302, "", {
      "content-type": plain,
      location: "/docs",
      link: '</docs>; rel="service-doc", </openapi.json>; rel="service-desc"'
    })
  )

  const rendered = makeRendered()
  const serveRendered = (path: string, type: string, render: (told: Told) => string | Promise<string>) =>
    app.all(
      path,
      get(path, async (event) => {
        const told = { api: apiFor(event), console: consoleUrlFor(event), samples: samples() }
        return respondShared(event, await rendered(path, told, render), free(200, "", documentHeaders(type)))
      })
    )

  for (const path of guidePaths) {
    serveRendered(path, page, async ({ api, console, samples }) => {
      const guide = findGuide(path)
      const content = renderMarkdown(fillFacts(guide.markdown, api))
      return String(await renderGuide(guide, { content, consoleUrl: console, samples }))
    })
    // the notice is below the title, which stays the first line
    serveRendered(`${path}.md`, markdown, ({ api, samples }) =>
      fillFacts(findGuide(path).markdown, api).replace("\n\n", () => `\n\n${sampleLine(samples)}`)
    )
  }
  serveRendered("/llms.txt", plain, ({ api, samples }) => renderLlmsText(api, samples))

  serve(referencePath, async (event) => {
    const scalar = `/docs/assets/${(await scalarScript()).name}`
    const nonce = randomBytes(18).toString("base64")
    const body = await renderReference({ consoleUrl: consoleUrlFor(event), samples: samples(), nonce, scalar })
    return free(200, body, {
      ...documentHeaders(page, referencePolicy(nonce)),
      "cache-control": "no-store"
    })
  })

  /** The asset at this path, for any method. */
  const assetAt = async (path: string): Promise<Omit<DocsAsset, "path"> | undefined> => {
    const asset = docsAssets.find((asset) => asset.path === path)
    if (asset !== undefined || !path.startsWith("/docs/assets/scalar.")) return asset
    const { body, name } = await scalarScript()
    return path === `/docs/assets/${name}` ? { type: "text/javascript; charset=utf-8", body } : undefined
  }

  const assets = "/docs/assets/:name"
  app.all(assets, async (event) => {
    const asset = await assetAt(event.url.pathname)
    if (asset === undefined) return refuse(event, noSuchEndpoint)
    const headers = { "content-type": asset.type, "cache-control": forAYear, "x-content-type-options": "nosniff" }
    return get(assets, () => respondShared(event, asset.body, free(200, "", headers)))(event)
  })
}

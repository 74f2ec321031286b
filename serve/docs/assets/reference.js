// Renders the reference from /openapi.json, and shows after each call its cost and the remaining credits.

// The page's policy allows only style sheets with its nonce, and Scalar sets the nonce only on its first style sheet.
const { content: nonce } = document.querySelector('meta[property="csp-nonce"]')
const create = document.createElement.bind(document)
document.createElement = (name, options) => {
  const element = create(name, options)
  if (element instanceof HTMLStyleElement) element.nonce = nonce
  return element
}

const costBox = document.getElementById("cost")
const number = new Intl.NumberFormat("en-US")
const formatCredits = (credits) => `${number.format(credits)} ${credits === 1 ? "credit" : "credits"}`
const formatUsd = (credits) => `${(credits / 1000).toFixed(2)} USD`

const showCost = (text, details, isRefused) => {
  const main = document.createElement("p")
  main.textContent = text
  const small = document.createElement("small")
  small.textContent = details
  const texts = document.createElement("div")
  texts.append(main, small)
  const close = document.createElement("button")
  close.type = "button"
  close.textContent = "Close"
  close.setAttribute("aria-label", "Close the cost of the call")
  close.addEventListener("click", () => costBox.replaceChildren())
  costBox.classList.toggle("refused", isRefused)
  costBox.replaceChildren(texts, close)
}

const maybeCharged = "The call may have been charged; see the console's list of requests."

/** A response of the API without headers about credits did not identify the key. */
const describeFailure = (status) => {
  if (status === 401) return "No valid key was sent; nothing was charged."
  return status >= 500 ? "The server could not respond; nothing was charged." : "Nothing was charged."
}

const showResult = ({ headers, status }) => {
  const [charged, remaining] = [headers.get("x-credits-charged"), headers.get("x-credits-remaining")]
  const id = headers.get("x-request-id")
  // a proxy may respond itself, or remove headers
  const request = id === null ? "" : `Request ${id}`
  if (id === null || (charged === null && status === 200))
    return showCost(`Status ${status}. ${maybeCharged}`, request, true)
  if (charged === null) return showCost(`Status ${status}. ${describeFailure(status)}`, request, true)
  const remainder = `${formatCredits(Number(remaining))} (${formatUsd(Number(remaining))}) left.`
  if (Number(charged) === 0) return showCost(`Status ${status}; nothing was charged. ${remainder}`, request, true)
  const sample = headers.get("x-data-origin") === "sample" ? "Sample data, mostly generated. " : ""
  showCost(
    `This call cost ${formatCredits(Number(charged))} (${formatUsd(Number(charged))}). ${remainder}`,
    sample + request,
    false
  )
}

// All requests of the reference go through here; requests to other origins are refused.
const send = async (...request) => {
  const url = new URL(request[0] instanceof Request ? request[0].url : request[0], location.href)
  if (url.origin !== location.origin) throw new TypeError(`${url.origin} cannot be called from here`)
  if (!url.pathname.startsWith("/v1/")) return fetch(...request)
  costBox.replaceChildren() // removes the cost of the previous call
  try {
    const response = await fetch(...request)
    showResult(response)
    return response
  } catch (error) {
    showCost(`No response arrived. ${maybeCharged}`, "", true)
    throw error
  }
}

/**
 * The document, with the price and the scope of each operation next to its title. Optional parameters are filled in
 * with their example, but are not sent until they are ticked, because some exclude each other.
 */
const loadDocument = async () => {
  const response = await fetch("/openapi.json")
  if (!response.ok) throw new Error(`/openapi.json returned status ${response.status}`)
  const document = await response.json()
  for (const { get } of Object.values(document.paths)) {
    const credits = get["x-credits"]
    get["x-badges"] = [
      { name: `${formatCredits(credits)} · ${formatUsd(credits)}`, position: "before" },
      { name: `scope ${get["x-scope"]}`, position: "before" }
    ]
    for (const parameter of get.parameters.filter(({ example, required }) => !required && example !== undefined)) {
      parameter.examples = { default: { value: parameter.example, "x-disabled": true } }
      delete parameter.example
    }
  }
  return { ...document, servers: [{ url: location.origin }] }
}

const loadScript = (src) =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script")
    script.addEventListener("load", resolve)
    script.addEventListener("error", () => reject(new Error(`${src} did not load`)))
    script.src = src
    document.head.append(script)
  })

const container = document.getElementById("reference")

const render = async () => {
  const [content] = await Promise.all([loadDocument(), loadScript(container.dataset.script)])
  container.replaceChildren()
  window.Scalar.createApiReference("#reference", {
    content,
    customFetch: send,
    _integration: null,
    agent: { disabled: true },
    mcp: { disabled: true },
    telemetry: false,
    withDefaultFonts: false,
    persistAuth: false, // the key stays in this page's memory
    showDeveloperTools: "never",
    hideClientButton: true, // it links to Scalar's own site
    documentDownloadType: "none", // /openapi.json is linked above
    hideDarkModeToggle: true, // the system's setting applies, as on all pages
    theme: "none",
    defaultOpenAllTags: true,
    orderSchemaPropertiesBy: "preserve",
    authentication: { preferredSecurityScheme: "key" },
    defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
    hiddenClients: { js: ["xhr"] } // its sample sends cookies, which browsers refuse across origins
  })
}

const link = (href, text) => {
  const a = document.createElement("a")
  a.href = href
  a.textContent = text
  return a
}

try {
  await render()
} catch (error) {
  const failed = document.createElement("p")
  failed.className = "container waiting"
  failed.setAttribute("role", "alert")
  failed.append("The reference could not be loaded. ", link(location.pathname, "Reload"), " the page, or read ")
  failed.append(
    link("/openapi.json", "the OpenAPI document"),
    " and ",
    link("/docs", "the guides"),
    ": they contain the same information."
  )
  container.replaceChildren(failed)
  throw error
}

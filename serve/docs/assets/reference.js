// Renders the reference from /openapi.json, and shows after each call its cost and the remaining credits.

// The page's policy allows only style sheets with its nonce. Scalar sets it only on its first one, hence this.
const { content: nonce } = document.querySelector('meta[property="csp-nonce"]')
const create = document.createElement.bind(document)
document.createElement = (name, options) => {
  const element = create(name, options)
  if (element instanceof HTMLStyleElement) element.nonce = nonce
  return element
}

const told = document.getElementById("cost")
const number = new Intl.NumberFormat("en-US")
const creditsOf = (credits) => `${number.format(credits)} ${credits === 1 ? "credit" : "credits"}`
const usdOf = (credits) => `${(credits / 1000).toFixed(2)} USD`

const say = (what, more, isRefused) => {
  const main = document.createElement("p")
  main.textContent = what
  const small = document.createElement("small")
  small.textContent = more
  const text = document.createElement("div")
  text.append(main, small)
  const close = document.createElement("button")
  close.type = "button"
  close.textContent = "Close"
  close.setAttribute("aria-label", "Close the cost of the call")
  close.addEventListener("click", () => told.replaceChildren())
  told.classList.toggle("refused", isRefused)
  told.replaceChildren(text, close)
}

const unsure = "The call may have been charged; the console's list of requests says."

/** Why an answer of the API has no headers about credits: it did not identify the key. */
const whyFree = (status) => {
  if (status === 401) return "No valid key was sent; nothing was charged."
  return status >= 500 ? "The server could not answer; nothing was charged." : "Nothing was charged."
}

const tell = ({ headers, status }) => {
  const [charged, remaining] = [headers.get("x-credits-charged"), headers.get("x-credits-remaining")]
  const id = headers.get("x-request-id")
  // a proxy may answer by itself, or remove headers
  const request = id === null ? "" : `Request ${id}`
  if (id === null || (charged === null && status === 200))
    return say(`Answered with ${status}. ${unsure}`, request, true)
  if (charged === null) return say(`Answered with ${status}. ${whyFree(status)}`, request, true)
  const left = `${creditsOf(Number(remaining))} (${usdOf(Number(remaining))}) left.`
  if (Number(charged) === 0) return say(`Answered with ${status}; nothing was charged. ${left}`, request, true)
  const sample = headers.get("x-data-origin") === "sample" ? "Sample data, mostly generated. " : ""
  say(`This call cost ${creditsOf(Number(charged))} (${usdOf(Number(charged))}). ${left}`, sample + request, false)
}

// All requests of the reference go through here; requests to other origins are refused.
const send = async (...request) => {
  const url = new URL(request[0] instanceof Request ? request[0].url : request[0], location.href)
  if (url.origin !== location.origin) throw new TypeError(`${url.origin} is not asked from here`)
  if (!url.pathname.startsWith("/v1/")) return fetch(...request)
  told.replaceChildren() // removes the cost of the previous call
  try {
    const response = await fetch(...request)
    tell(response)
    return response
  } catch (error) {
    say(`No answer came. ${unsure}`, "", true)
    throw error
  }
}

/**
 * The document, with the price and the scope of each operation next to its title. Optional parameters are filled in
 * with their example, but are not sent until they are ticked, because some exclude each other.
 */
const documented = async () => {
  const answer = await fetch("/openapi.json")
  if (!answer.ok) throw new Error(`/openapi.json was answered with ${answer.status}`)
  const document = await answer.json()
  for (const { get } of Object.values(document.paths)) {
    const credits = get["x-credits"]
    get["x-badges"] = [
      { name: `${creditsOf(credits)} · ${usdOf(credits)}`, position: "before" },
      { name: `scope ${get["x-scope"]}`, position: "before" }
    ]
    for (const parameter of get.parameters.filter(({ example, required }) => !required && example !== undefined)) {
      parameter.examples = { default: { value: parameter.example, "x-disabled": true } }
      delete parameter.example
    }
  }
  return { ...document, servers: [{ url: location.origin }] }
}

const loaded = (src) =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script")
    script.addEventListener("load", resolve)
    script.addEventListener("error", () => reject(new Error(`${src} did not load`)))
    script.src = src
    document.head.append(script)
  })

const place = document.getElementById("reference")

const draw = async () => {
  const [content] = await Promise.all([documented(), loaded(place.dataset.script)])
  place.replaceChildren()
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
    hideClientButton: true, // it leads to Scalar's own site
    documentDownloadType: "none", // /openapi.json is linked above
    hideDarkModeToggle: true, // the system's choice applies, as on all pages
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
  await draw()
} catch (error) {
  const failed = document.createElement("p")
  failed.className = "container waiting"
  failed.setAttribute("role", "alert")
  failed.append("The reference could not be drawn. ", link(location.pathname, "Reload"), " the page, or read ")
  failed.append(
    link("/openapi.json", "the OpenAPI document"),
    " and ",
    link("/docs", "the guides"),
    ": they say the same."
  )
  place.replaceChildren(failed)
  throw error
}

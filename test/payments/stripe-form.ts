/** Parameters of Stripe's form-encoded requests, with keys such as `line_items[0][price_data][currency]`. */
export interface Params {
  [key: string]: string | Params
}

export const parseParams = (text: string): Params => {
  const root: Params = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const [first = "", ...rest] = name.split("[").map((part) => part.replace("]", ""))
    const keys = [first, ...rest]
    let parent = root
    for (const key of keys.slice(0, -1)) {
      const next = parent[key]
      const child = typeof next === "object" ? next : {}
      parent[key] = child
      parent = child
    }
    parent[keys.at(-1) ?? ""] = value
  }
  return root
}

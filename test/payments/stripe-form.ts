/** Stripe's requests are forms with keys like `line_items[0][price_data][currency]`. */
export interface Params {
  [key: string]: string | Params
}

export const paramsOf = (text: string): Params => {
  const root: Params = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const [first = "", ...rest] = name.split("[").map((part) => part.replace("]", ""))
    const keys = [first, ...rest]
    let place = root
    for (const key of keys.slice(0, -1)) {
      const next = place[key]
      const inside = typeof next === "object" ? next : {}
      place[key] = inside
      place = inside
    }
    place[keys.at(-1) ?? ""] = value
  }
  return root
}

/** The host of a store with a fault, which is another store without it while `isFaulty` returns false. */
import { feedOf, pathOf, type StoreFault } from "./faulty-stores.ts"
import { startUpstream } from "./upstream.ts"

const json = (value: unknown) => JSON.stringify(value)

/** Responses of a Shopify store for paths other than its products. */
const otherResponses: Readonly<Record<string, string>> = {
  "/meta.json": json({ id: 7, name: "Shop", country: "NO", currency: "EUR", published_products_count: 4 }),
  "/collections.json": json({ collections: [{ id: 9, title: "All", handle: "all", products_count: 1 }] }),
  "/collections/all/products.json": json({ products: [{ id: 1 }] })
}
const makeEmptyPage = (path: string) => json(path === "/collections.json" ? { collections: [] } : { products: [] })

export const startFaultyStore = (store: StoreFault, price: () => string, isFaulty: () => boolean) =>
  startUpstream((response, _, { url }) => {
    const { format } = store
    const { pathname, searchParams } = new URL(url, "http://shop.test")
    if (pathname === "/robots.txt") return void response.end(isFaulty() ? (store.robots ?? "") : "")
    const page = Number(searchParams.get("page") ?? 1)
    if (pathname !== pathOf[format]) {
      const other = format === "shopify" ? otherResponses[pathname] : undefined
      if (other === undefined) return void response.writeHead(404).end()
      return void response.end(page === 1 ? other : makeEmptyPage(pathname))
    }
    if (page > 1) return void response.end(format === "shopify" ? makeEmptyPage(pathname) : "[]")
    const intact = feedOf(format, price())
    if (!isFaulty()) return void response.end(intact)
    if (store.respond !== undefined) return store.respond(response, intact)
    response.writeHead(200, store.headers ?? {}).end(store.feed ?? intact)
  })

/** The address of a store in a store list. */
export const locationOf = ({ format, path }: StoreFault, base: string, isFaulty: boolean) => {
  if (isFaulty && path !== undefined) return base + path
  return format === "shopify" || format === "woocommerce" ? base : base + pathOf[format]
}

/** Responses to the preflights of browsers. No page may send credentials, so it may send any header. */

const headerName = /^[\w!#$%&'*+.^`|~-]+$/

/**
 * The names in `Access-Control-Request-Headers` except `Authorization`; none if it is not a list of header names. All
 * headers of a request have at most 16 KiB.
 */
const readNames = (requested: string | null): ReadonlyArray<string> => {
  const names = (requested ?? "").split(",").flatMap((name) => name.trim() || [])
  return names.every((name) => headerName.test(name)) ? names.filter((name) => !/^authorization$/i.test(name)) : []
}

/** Headers are allowed by name: `*` would not include `Authorization`. */
export const preflightHeaders = (methods: string, requestedHeaders: string | null) => ({
  allow: methods,
  "access-control-allow-methods": methods,
  "access-control-allow-headers": ["Authorization", ...readNames(requestedHeaders)].join(", "),
  "access-control-max-age": "86400",
  vary: "Access-Control-Request-Headers"
})

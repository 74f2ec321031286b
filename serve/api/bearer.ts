/** The API key of a request. The scheme is case-insensitive, a key is not. */

const bearer = /^bearer +(\S+)$/i
const keyPattern = /^svc_data_[A-Za-z0-9]{64}$/

/** The key in an `Authorization` header; undefined if the header is missing or malformed. */
export const tokenOf = (authorization: string | null): string | undefined => {
  const token = bearer.exec(authorization ?? "")?.[1]
  return token !== undefined && keyPattern.test(token) ? token : undefined
}

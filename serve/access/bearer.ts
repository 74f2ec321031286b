/** The key that a request carries. The scheme ignores case, a key does not. */

const bearer = /^bearer +(\S+)$/i
const keyPattern = /^svc_data_[A-Za-z0-9]{64}$/

/** Of an `Authorization` header: undefined where it is missing or malformed. */
export const tokenOf = (authorization: string | null): string | undefined => {
  const token = bearer.exec(authorization ?? "")?.[1]
  return token !== undefined && keyPattern.test(token) ? token : undefined
}

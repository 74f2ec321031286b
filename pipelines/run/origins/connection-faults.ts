/** Explains why there was no response: what happened, and what to do if a later retry does not help. */
import { codeOf, reasonOf } from "../files/causes.ts"
import { ProxyUnreachable } from "./proxies.ts"

interface ConnectionFault {
  readonly problem: string
  /** One sentence. Absent if waiting is the only remedy. */
  readonly advice?: string
  readonly may_pass?: false
  /** There was no connection to the host, so no other address of it can be read either. */
  readonly no_connection?: true
}

const checkNetwork = "Check the network and the name servers of this machine."

const noConnection = (problem: string, advice?: string): ConnectionFault => ({
  problem,
  ...(advice === undefined ? {} : { advice }),
  no_connection: true
})

const faults: Readonly<Record<string, ConnectionFault>> = {
  ECONNREFUSED: noConnection("the host refused the connection"),
  ENOTFOUND: noConnection(
    "the host name is not known",
    `${checkNetwork} If the network requires a proxy, set HTTPS_PROXY.`
  ),
  EAI_AGAIN: noConnection("the lookup of the host name failed", checkNetwork),
  ENETUNREACH: noConnection("there is no route to the host", checkNetwork),
  EHOSTUNREACH: noConnection("there is no route to the host", checkNetwork),
  ENETDOWN: noConnection("the network is down", checkNetwork),
  ETIMEDOUT: noConnection("the host did not accept the connection in time"),
  UND_ERR_CONNECT_TIMEOUT: noConnection("the host did not accept the connection in time"),
  // a host may break off the connections of one address only
  ECONNRESET: { problem: "the connection broke off" },
  UND_ERR_SOCKET: { problem: "the connection broke off" },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { problem: "the body does not have the declared length" },
  Z_BUF_ERROR: { problem: "the compressed body broke off" },
  Z_DATA_ERROR: { problem: "the compressed body is damaged" }
}

/** A host that responds in plain text, or with a certificate for another host, is usually not the source. */
const portalAdvice =
  "A captive portal or a proxy may respond in its place: sign in to the network with a browser, or name the proxy in HTTPS_PROXY."

/** Error codes of OpenSSL and Node, https://nodejs.org/api/tls.html#x509-certificate-error-codes. */
const untrusted = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_UNTRUSTED",
  "CERT_SIGNATURE_FAILURE"
])

const describeCertificateFault = (host: string, code: string, clock: string): ConnectionFault | undefined => {
  const certificate = `the certificate of ${host}`
  const makeFault = (problem: string, advice: string) =>
    ({ problem, advice, may_pass: false, no_connection: true }) as const
  if (untrusted.has(code)) {
    return makeFault(
      `${certificate} is not signed by an authority that this machine trusts (${code})`,
      "If a proxy of the network inspects TLS, name the PEM file of its authority in NODE_EXTRA_CA_CERTS."
    )
  }
  if (code === "CERT_HAS_EXPIRED") {
    const advice = "Correct the clock; if it is correct, wait until the certificate is renewed."
    return makeFault(`${certificate} has expired, or the clock of this machine is ahead${clock}`, advice)
  }
  if (code === "CERT_NOT_YET_VALID") {
    const problem = `${certificate} is not valid yet, or the clock of this machine is behind${clock}`
    return makeFault(problem, "Correct the clock.")
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return makeFault(`the certificate received for ${host} belongs to another host`, portalAdvice)
  }
  if (!/^CERT_|_CERT(_|$)|CERTIFICATE/.test(code)) return undefined
  return makeFault(`${certificate} was refused (${code}: an invalid certificate)`, portalAdvice)
}

const describeProxyFault = (host: string, variable: string, status: number): ConnectionFault => {
  if (status === 407) {
    return {
      problem: `the proxy of ${variable} requires a user and a password, or refused those given (HTTP 407)`,
      advice: `Put them into its address, percent-encoded: ${variable}=http://user:password@host:port.`,
      may_pass: false,
      no_connection: true
    }
  }
  return {
    no_connection: true,
    problem: `the proxy of ${variable} does not connect to ${host} (HTTP ${status})`,
    advice: "Ask for the host to be allowed there, or add it to NO_PROXY if it can be reached directly.",
    ...(status < 500 ? { may_pass: false } : {})
  }
}

interface Circumstances {
  readonly now?: number
  /** The variable that names the proxy of the address, if there is a proxy. */
  readonly variable?: string | undefined
}

export const describeFault = (
  cause: unknown,
  url: string,
  { now, variable = "HTTPS_PROXY" }: Circumstances = {}
): ConnectionFault => {
  if (cause instanceof ProxyUnreachable) {
    const { problem } = describeFault(cause.cause, url)
    return noConnection(`the proxy of ${variable} cannot be reached: ${problem}`, `Check ${variable}.`)
  }
  const { hostname: host } = new URL(url)
  const code = codeOf(cause)
  const text = reasonOf(cause)
  // undici reports the response of a proxy only as text
  const refused = /^Proxy response \((\d{3})\)/.exec(text)?.[1]
  if (refused !== undefined) return describeProxyFault(host, variable, Number(refused))
  if (/^Proxy Authentication Required/.test(text)) return describeProxyFault(host, variable, 407)
  const clock = now === undefined ? "" : `: it shows ${new Date(now).toISOString()}`
  const known = faults[code] ?? describeCertificateFault(host, code, clock)
  if (known !== undefined) return known
  if (code === "EPROTO" || code.startsWith("ERR_SSL_")) {
    return noConnection(`the host does not respond with TLS (${code})`, portalAdvice)
  }
  return { problem: `the connection failed (${[code, text].filter(Boolean).join(": ")})` }
}

/** What is wrong with a request before a route sees it: its HTTP, its address and its host. */
import type { IncomingMessage } from "node:http"
import {
  type ApiError,
  headersTooLarge,
  requestTimeout,
  unclearHost,
  unencodedControl,
  unencodedHash,
  unencodedSpace,
  unencodedText,
  unreadableRequest
} from "@larder/schemas"
import { parseHost } from "../addresses.ts"

/** The error of a request that Node does not accept. */
export interface ParseError extends NodeJS.ErrnoException {
  /** The last piece of input, and where in it the parser stopped: at the character that it refused, or after it. */
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
}

/** The parser refuses control characters and bytes outside of ASCII as such, and takes a space for the end of the address. */
export const explainParseError = ({ bytesParsed = 0, code, rawPacket }: ParseError): ApiError => {
  const rest = rawPacket?.toString("latin1", Math.max(0, bytesParsed - 1)) ?? ""
  if (code === "HPE_HEADER_OVERFLOW") return headersTooLarge
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return requestTimeout
  if (code === "HPE_INVALID_CONSTANT" && /^[^\r\n]+ HTTP\/1\.\d\r?\n/.test(rest)) return unencodedSpace
  if (code === "HPE_INVALID_URL" && /^.?[\x80-\xff]/s.test(rest)) return unencodedText
  if (code === "HPE_INVALID_URL" && /^.?\p{Cc}/su.test(rest)) return unencodedControl
  return unreadableRequest
}

/** The target must be a path, `*`, or an absolute URL as proxies send it. HTTP/1.1 requires exactly one host. */
export const findProblem = ({ headers, httpVersion, rawHeaders, url = "" }: IncomingMessage) => {
  const address = /^https?:\/\/([^/?#]*)/i.exec(url)
  if (address === null && !url.startsWith("/") && url !== "*") return unreadableRequest
  const query = url.indexOf("?")
  if (query >= 0 && url.includes("#", query)) return unencodedHash // URL parsers would drop the rest of the query
  const hosts = [address?.[1], headers.host].filter((host) => host !== undefined)
  const hasHost = headers.host !== undefined || httpVersion === "1.0"
  return hasHost && hosts.every((host) => parseHost(host) !== undefined) && !hasTwoHosts(rawHeaders)
    ? undefined
    : unclearHost
}

/** Node silently drops a second `Host` header. */
const hasTwoHosts = (rawHeaders: ReadonlyArray<string>) => {
  let hostCount = 0
  for (let index = 0; index < rawHeaders.length; index += 2) if (/^host$/i.test(rawHeaders[index] ?? "")) hostCount++
  return hostCount > 1
}

/** Verifies the signature of a request, as S3 services do: the access key, the time, and that nothing was changed. */
import { createHash, createHmac } from "node:crypto"
import type { IncomingMessage } from "node:http"

export const accessKeyId = "larder"
export const secretAccessKey = "a secret that nobody may read"
export const region = "eu-test-1"

const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest()
export const sha256Of = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex")

const encodeStrictly = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)

const canonicalQuery = (url: URL) =>
  [...url.searchParams]
    .map(([name, value]) => `${encodeStrictly(name)}=${encodeStrictly(value)}`)
    .sort()
    .join("&")

/** https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
const signatureOf = (request: IncomingMessage, url: URL, signedHeaders: string, scope: string) => {
  const { headers, method } = request
  const header = (name: string) => String(headers[name] ?? "").trim()
  const canonical = [
    method,
    url.pathname
      .split("/")
      .map((part) => encodeStrictly(decodeURIComponent(part)))
      .join("/"),
    canonicalQuery(url),
    ...signedHeaders.split(";").map((name) => `${name}:${header(name)}`),
    "",
    signedHeaders,
    header("x-amz-content-sha256")
  ].join("\n")
  const text = ["AWS4-HMAC-SHA256", header("x-amz-date"), scope, sha256Of(canonical)].join("\n")
  const key = scope.split("/").reduce<string | Buffer>((key, part) => hmac(key, part), `AWS4${secretAccessKey}`)
  return hmac(key, text).toString("hex")
}

const timeIn = (amzDate: string) =>
  Date.parse(amzDate.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"))

/** In milliseconds. */
const maxSkew = 15 * 60_000

/** The error code for an invalid request; undefined if the request is valid. */
export const findFault = (request: IncomingMessage, url: URL): string | undefined => {
  const { authorization = "", "x-amz-date": date, "x-amz-content-sha256": payload } = request.headers
  const [, key, scope = "", signedHeaders = "", signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=([0-9a-f]{64})$/.exec(authorization) ??
    []
  if (key === undefined || payload === undefined) return "AccessDenied"
  if (key !== accessKeyId) return "InvalidAccessKeyId"
  if (!(Math.abs(timeIn(String(date)) - Date.now()) < maxSkew)) return "RequestTimeTooSkewed"
  if (scope.split("/")[1] !== region) return "AuthorizationHeaderMalformed"
  const required = ["host", ...Object.keys(request.headers).filter((name) => /^(x-amz-|if-)/.test(name))]
  if (required.some((name) => !signedHeaders.split(";").includes(name))) return "AccessDenied"
  return signatureOf(request, url, signedHeaders, scope) === signature ? undefined : "SignatureDoesNotMatch"
}

/** The answers of an S3 service: pages of a listing, and reasons for a refusal. */
import { Option, Schema } from "effect"
import { XMLParser } from "fast-xml-parser"
import { type Answer, passes, RequestFailed } from "./requests.ts"

const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  htmlEntities: true, // numeric entities, too: versitygw writes &#39;
  isArray: (name) => name === "Contents"
})

/** Undefined if the text is not well-formed: half a page must not be taken for a whole one. */
const parsed = (text: string): unknown => {
  try {
    return parser.parse(text, true)
  } catch {
    return undefined
  }
}

const Listing = Schema.Struct({
  ListBucketResult: Schema.Struct({
    IsTruncated: Schema.Literals(["true", "false"]),
    NextContinuationToken: Schema.optionalKey(Schema.String),
    EncodingType: Schema.optionalKey(Schema.String),
    Contents: Schema.optionalKey(
      Schema.Array(
        Schema.Struct({ Key: Schema.String, LastModified: Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT/u)) })
      )
    )
  })
})
const decodeListing = Schema.decodeUnknownOption(Listing)

const decoded = (key: string, encoding: string | undefined) => {
  if (encoding !== "url") return key
  try {
    return decodeURIComponent(key.replaceAll("+", " "))
  } catch {
    return key // not a name of a depot: those need no encoding
  }
}

export interface ListingPage {
  readonly entries: ReadonlyArray<{ readonly key: string; readonly modified: number }>
  /** Token for the next page; undefined on the last one. */
  readonly next: string | undefined
}

/** A page of ListObjectsV2; none if the answer is something else, or incomplete. */
export const pageOf = ({ text }: Answer): Option.Option<ListingPage> => {
  const listing = Option.map(decodeListing(parsed(text)), ({ ListBucketResult }) => ListBucketResult)
  if (Option.isNone(listing)) return Option.none()
  const { Contents = [], EncodingType, IsTruncated, NextContinuationToken: next } = listing.value
  if (IsTruncated === "true" && next === undefined) return Option.none()
  return Option.some({
    entries: Contents.map(({ Key, LastModified }) => ({
      key: decoded(Key, EncodingType),
      modified: Date.parse(LastModified)
    })),
    next: IsTruncated === "true" ? next : undefined
  })
}

const Refusal = Schema.Struct({
  Error: Schema.Struct({
    Code: Schema.String.check(Schema.isPattern(/^\w{1,60}$/u)),
    Message: Schema.optionalKey(Schema.String),
    Region: Schema.optionalKey(Schema.String)
  })
})
const decodeRefusal = Schema.decodeUnknownOption(Refusal)

/** The error code, such as `NoSuchBucket`; empty if the service gives none. */
export const codeOf = ({ text }: Answer) =>
  Option.match(decodeRefusal(parsed(text)), { onNone: () => "", onSome: ({ Error: { Code } }) => Code })

interface Circumstances {
  readonly bucket: string
  readonly region: string
  /** The time by this machine's clock. */
  readonly now: number
}

const wrongRegion = ({ bucket, region }: Circumstances, actual: string | undefined) =>
  actual === undefined || actual === region
    ? `The bucket ${bucket} is in another region than ${region}, or behind another endpoint: set AWS_REGION or AWS_ENDPOINT_URL_S3.`
    : `The bucket ${bucket} is in the region ${actual}: set AWS_REGION=${actual}.`

const full = "The bucket is full: make room in it, or have its quota raised, and run again."
const newToken =
  "Get new credentials, set them in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and start again."
const hasChanged =
  "Run again; if this happens again, something between this machine and the service damages what it sends, or the file changes."

const adviceFor = (code: string, circumstances: Circumstances, actualRegion: string | undefined) => {
  const { bucket, now } = circumstances
  switch (code) {
    case "InvalidAccessKeyId":
    case "XAdminUserNotFound": // versitygw's code
      return "Check AWS_ACCESS_KEY_ID, and whether it belongs to this service."
    case "SignatureDoesNotMatch":
      return "Check AWS_SECRET_ACCESS_KEY."
    case "ExpiredToken":
    case "InvalidToken":
    case "TokenRefreshRequired":
      return newToken
    case "RequestTimeTooSkewed":
    case "RequestExpired":
      return `Correct the clock of this machine: it says ${new Date(now).toISOString()}.`
    case "NoSuchBucket":
      return `Create the bucket ${bucket}, or name another one in LARDER_DEPOT.`
    case "InvalidBucketName":
      return "Correct the name of the bucket in LARDER_DEPOT."
    case "PermanentRedirect":
    case "TemporaryRedirect":
    case "AuthorizationHeaderMalformed":
    case "IllegalLocationConstraintException":
      return wrongRegion(circumstances, actualRegion)
    case "QuotaExceeded":
    case "XMinioStorageFull":
    case "XMinioAdminBucketQuotaExceeded":
      return full
    case "XAmzContentSHA256Mismatch":
    case "BadDigest":
    case "InvalidDigest":
      return hasChanged
    case "NotImplemented":
      return "A depot needs a service that knows If-None-Match, Range and ListObjectsV2, such as AWS S3, Ceph RGW or MinIO."
    default:
      return undefined
  }
}

const adviceForStatus = (status: number, circumstances: Circumstances, actualRegion: string | undefined) => {
  const { bucket } = circumstances
  if (status === 507) return full
  if (status === 401 || status === 403) {
    return `Allow these credentials s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject in the bucket ${bucket}.`
  }
  if (status >= 300 && status < 400) return wrongRegion(circumstances, actualRegion)
  return "Check the service, and run again."
}

/** Whether a retry may succeed, also for bytes damaged in transit and for names that other programs are just taking. */
const mayPass = (status: number, code: string) =>
  passes(status) || status === 409 || status === 412 || ["XAmzContentSHA256Mismatch", "BadDigest"].includes(code)

/** Longer messages quote the request, perhaps with its session token. */
const longestMessage = 200

export const refusalOf = (answer: Answer, circumstances: Circumstances) => {
  const { headers, status } = answer
  const told = Option.getOrUndefined(decodeRefusal(parsed(answer.text)))?.Error
  const { Code: code = "", Message: message = "", Region } = told ?? {}
  const region = headers["x-amz-bucket-region"] ?? Region
  const words = message.length > longestMessage ? "" : message.replace(/\.$/, "")
  return new RequestFailed({
    problem: `the service answers ${[status, code].join(" ").trim()}${words === "" ? "" : ` (${words})`}`,
    advice: adviceFor(code, circumstances, region) ?? adviceForStatus(status, circumstances, region),
    may_pass: mayPass(status, code)
  })
}

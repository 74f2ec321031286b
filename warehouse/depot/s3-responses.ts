/** Parses the responses of an S3 service: pages of a listing, and errors. */
import { Option, Schema } from "effect"
import { XMLParser } from "fast-xml-parser"
import { type DepotResponse, isTemporaryStatus, RequestFailed } from "./requests.ts"

const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  htmlEntities: true, // numeric entities, too: versitygw writes &#39;
  isArray: (name) => name === "Contents"
})

/** Undefined if the text is not well-formed: an incomplete page must not be used. */
const parseXml = (text: string): unknown => {
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

const decodeKey = (key: string, encoding: string | undefined) => {
  if (encoding !== "url") return key
  try {
    return decodeURIComponent(key.replaceAll("+", " "))
  } catch {
    return key // not a name in a depot: those need no encoding
  }
}

/** A page of ListObjectsV2, with the token of the next page. Undefined if it is something else or incomplete. */
export const parseListing = ({ text }: DepotResponse) => {
  const listing = Option.getOrUndefined(decodeListing(parseXml(text)))?.ListBucketResult
  if (listing === undefined) return undefined
  const { Contents = [], EncodingType, IsTruncated, NextContinuationToken: next } = listing
  if (IsTruncated === "true" && next === undefined) return undefined
  const entries = Contents.map(({ Key, LastModified }) => ({
    key: decodeKey(Key, EncodingType),
    modified: Date.parse(LastModified)
  }))
  return { entries, next: IsTruncated === "true" ? next : undefined }
}

const ErrorBody = Schema.Struct({
  Error: Schema.Struct({
    Code: Schema.String.check(Schema.isPattern(/^\w{1,60}$/u)),
    Message: Schema.optionalKey(Schema.String),
    Region: Schema.optionalKey(Schema.String)
  })
})
const decodeError = Schema.decodeUnknownOption(ErrorBody)
const parseError = ({ text }: DepotResponse) => Option.getOrUndefined(decodeError(parseXml(text)))?.Error

/** Whether the object does not exist. Without this code, the bucket or the user may be missing instead. */
export const isMissingObject = (response: DepotResponse) =>
  response.status === 404 && parseError(response)?.Code === "NoSuchKey"

interface RequestContext {
  readonly bucket: string
  readonly region: string
  /** The time by this machine's clock. */
  readonly now: number
}

/** What to do about an error, by its code. `XAdminUserNotFound` is versitygw's. */
const adviceByCode = (
  { bucket, now }: RequestContext,
  wrongRegion: string
): ReadonlyArray<readonly [codes: ReadonlyArray<string>, advice: string]> => [
  [["InvalidAccessKeyId", "XAdminUserNotFound"], "Check AWS_ACCESS_KEY_ID, and whether it belongs to this service."],
  [["SignatureDoesNotMatch"], "Check AWS_SECRET_ACCESS_KEY."],
  [
    ["ExpiredToken", "InvalidToken", "TokenRefreshRequired"],
    "Get new credentials, set them in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, and start again."
  ],
  [
    ["RequestTimeTooSkewed", "RequestExpired"],
    `Correct the clock of this machine: it shows ${new Date(now).toISOString()}.`
  ],
  [["NoSuchBucket"], `Create the bucket ${bucket}, or name another one in LARDER_DEPOT.`],
  [["InvalidBucketName"], "Correct the name of the bucket in LARDER_DEPOT."],
  [
    ["PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"],
    wrongRegion
  ],
  [["QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded"], bucketFull],
  [
    ["XAmzContentSHA256Mismatch", "BadDigest", "InvalidDigest"],
    "Run again. If this happens again, the data is damaged in transit, or the file changes."
  ],
  [
    ["NotImplemented"],
    "A depot needs a service that supports If-None-Match, Range and ListObjectsV2, such as AWS S3, Ceph RGW or MinIO."
  ]
]

const bucketFull = "The bucket is full: make room in it, or have its quota raised, and run again."

const findAdvice = (status: number, code: string, context: RequestContext, actualRegion: string | undefined) => {
  const { bucket, region } = context
  const wrongRegion =
    actualRegion === undefined || actualRegion === region
      ? `The bucket ${bucket} is in another region than ${region}, or behind another endpoint: set AWS_REGION or AWS_ENDPOINT_URL_S3.`
      : `The bucket ${bucket} is in the region ${actualRegion}: set AWS_REGION=${actualRegion}.`
  const byCode = adviceByCode(context, wrongRegion).find(([codes]) => codes.includes(code))
  if (byCode !== undefined) return byCode[1]
  if (status === 507) return bucketFull
  if (status === 401 || status === 403) {
    return `Allow these credentials s3:ListBucket, s3:GetObject, s3:PutObject and s3:DeleteObject in the bucket ${bucket}.`
  }
  return status >= 300 && status < 400 ? wrongRegion : "Check the service, and run again."
}

/** Whether a retry may succeed, including for damaged bytes and for names that other programs are writing. */
const isRetryable = (status: number, code: string) =>
  isTemporaryStatus(status) || [409, 412].includes(status) || ["XAmzContentSHA256Mismatch", "BadDigest"].includes(code)

/** Longer messages quote the request, perhaps with its session token. */
const maxMessageLength = 200

export const toRequestFailed = (response: DepotResponse, context: RequestContext) => {
  const { headers, status } = response
  const { Code: code = "", Message: message = "", Region } = parseError(response) ?? {}
  const region = headers["x-amz-bucket-region"] ?? Region
  const reason = message.replace(/\.$/, "")
  const quote = reason === "" || reason.length > maxMessageLength ? "" : ` (${reason})`
  return new RequestFailed({
    problem: `the service returned ${[status, code].join(" ").trim()}${quote}`,
    advice: findAdvice(status, code, context, region),
    is_retryable: isRetryable(status, code)
  })
}

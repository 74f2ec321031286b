/** The responses of an operation: its data, and every error with the messages that are known in advance. */
import type { JsonSchema } from "effect"
import type { ApiError, Invalid } from "../api-errors.ts"
import * as errors from "../api-errors.ts"
import type { Endpoint } from "../endpoint.ts"
import { codeNames } from "../error-codes.ts"
import { errorTypes } from "../error-types.ts"
import { wrongNames } from "../parameters.ts"

export const headers = {
  "X-Request-Id": {
    description: "Id of this request, on every response. State it when you report a problem.",
    required: true,
    schema: { type: "string" }
  },
  "X-Data-Version": {
    description:
      "The newest generation that changed the requested data set. While it is the same, the rows are the same, except `fetched_at` and `fetch_status` of stores, which describe their last read. On every response to a recognised key.",
    required: false,
    schema: { type: "string" }
  },
  "X-Data-Origin": {
    description:
      "`sample` if the requested data set contains bundled samples, most of which are generated; otherwise `live`. On every response to a recognised key.",
    required: false,
    schema: { type: "string", enum: ["live", "sample"] }
  },
  "X-Credits-Charged": {
    description: "Credits that this call cost; 0 on errors. On every response to a recognised key.",
    required: false,
    schema: { type: "integer", minimum: 0 }
  },
  "X-Credits-Remaining": {
    description:
      "Credits that this key can still spend: the smaller of the balance and the rest of the key's monthly budget. On every response to a recognised key.",
    required: false,
    schema: { type: "integer", minimum: 0 }
  },
  "X-Error-Code": {
    description:
      "What exactly went wrong, in more detail than `error.type`. A code never changes its meaning. All current codes are listed as examples, and new ones may be added. `/docs/errors` explains each code.",
    required: true,
    schema: { type: "string", examples: [...codeNames] } // with an enum, a new code would break generated clients
  },
  Link: {
    description:
      'Address of the explanation of the code, as `</docs/errors#unknown_parameter>; rel="help"`: relative to the address of the call, or absolute with the public address of the API.',
    required: true,
    schema: { type: "string" }
  },
  "WWW-Authenticate": { description: "Always `Bearer`.", required: true, schema: { type: "string" } },
  "Retry-After": {
    description: "Seconds to wait before trying again.",
    required: true,
    schema: { type: "integer", minimum: 0 }
  }
} satisfies Record<string, { description: string; required: boolean; schema: JsonSchema.JsonSchema }>

type HeaderName = keyof typeof headers

const onRecognisedKeys = [
  "X-Request-Id",
  "X-Data-Version",
  "X-Data-Origin",
  "X-Credits-Charged",
  "X-Credits-Remaining"
] as const
const onErrors = ["X-Error-Code", "Link"] as const

interface Example {
  readonly summary: string
  readonly description?: string
  readonly value: unknown
}
type Examples = Readonly<Record<string, Example>>

const buildResponse = (
  description: string,
  headers: ReadonlyArray<HeaderName>,
  schema: JsonSchema.JsonSchema,
  examples: Examples
) => ({
  description,
  headers: Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }])),
  content: { "application/json": { schema, examples } }
})

type OpenApiResponse = ReturnType<typeof buildResponse>
interface Reference {
  readonly $ref: string
}

export const buildSharedResponses = (error: JsonSchema.JsonSchema): Readonly<Record<string, OpenApiResponse>> => ({
  Unauthorized: buildFailure(
    error,
    describeStatus(401),
    [errors.missingAuthorization, errors.malformedAuthorization, errors.unknownKey, errors.accountSuspended],
    ["X-Request-Id", "WWW-Authenticate"]
  ),
  InsufficientBalance: buildFailure(error, describeStatus(402), [
    errors.insufficientBalance,
    errors.monthlySpendCapReached
  ]),
  Internal: buildFailure(error, describeStatus(500), [errors.internal]),
  Unavailable: buildFailure(
    error,
    "The server is overloaded, or cannot record the charge. Nothing was charged.",
    [errors.overloaded, errors.tooManyInFlight, errors.ledgerUnavailable],
    [...onRecognisedKeys, "Retry-After"]
  )
})

export const buildResponses = (
  endpoint: Endpoint,
  data: JsonSchema.JsonSchema,
  error: JsonSchema.JsonSchema
): Readonly<Record<string, OpenApiResponse | Reference>> => ({
  "200": buildResponse(
    "The response. Only this status is charged.",
    onRecognisedKeys,
    data,
    describeExamples(endpoint)
  ),
  "400": buildFailure(error, describeStatus(400), collectRefusals(endpoint).map(errors.invalidRequest)),
  "401": { $ref: "#/components/responses/Unauthorized" },
  "402": { $ref: "#/components/responses/InsufficientBalance" },
  "403": buildFailure(error, describeStatus(403), [errors.missingScope(endpoint.scope)]),
  ...(endpoint.record !== undefined && {
    "404": buildFailure(error, `No ${endpoint.record} has the id in the path.`, [
      errors.unknownRecord(endpoint.record, "<id>")
    ])
  }),
  "500": { $ref: "#/components/responses/Internal" },
  "503": { $ref: "#/components/responses/Unavailable" }
})

const describeExamples = ({ examples }: Endpoint): Examples =>
  Object.fromEntries(
    Object.entries(examples).map(([name, { body, summary, target }]) => [
      name,
      { summary, description: `\`GET ${target}\` over the bundled samples.`, value: structuredClone(body) }
    ])
  )

const describeStatus = (status: (typeof errorTypes)[number]["status"]) =>
  errorTypes.flatMap((error) => (error.status === status ? [error.description] : [])).join()

/** The messages of a 400 that are known in advance. */
const collectRefusals = ({ parameters, refusals }: Endpoint): ReadonlyArray<Invalid> => [
  ...Object.entries(parameters).flatMap(([name, parameter]) => parameter.refusals(name)),
  ...refusals,
  ...wrongNames(parameters)
]

const buildFailure = (
  schema: JsonSchema.JsonSchema,
  description: string,
  failures: ReadonlyArray<ApiError>,
  headers: ReadonlyArray<HeaderName> = onRecognisedKeys
) => {
  const examples = failures.map((error) => {
    const { code, message, type } = error
    return [nameExample(error, failures), { summary: `X-Error-Code: ${code}`, value: { error: { type, message } } }]
  })
  return buildResponse(description, [...headers, ...onErrors], schema, Object.fromEntries(examples))
}

/** The error's message, with its code if another error has the same message. */
const nameExample = ({ code, message }: ApiError, failures: ReadonlyArray<ApiError>) =>
  failures.some((other) => other.message === message && other.code !== code) ? `${message} (${code})` : message

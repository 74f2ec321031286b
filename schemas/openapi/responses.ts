/** The answers of an operation: its data, and every error with the messages that are known in advance. */
import type { ApiError, Invalid } from "../api-errors.ts"
import * as errors from "../api-errors.ts"
import type { Endpoint } from "../endpoint.ts"
import { codeNames } from "../error-codes.ts"
import { foreignCursor, wrongNames } from "../parameters.ts"
import type { OpenApiExample, OpenApiHeader, OpenApiResponse, Reference, SchemaObject } from "./types.ts"

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
      "Credits that this key can still spend: the smallest of the balance and the rest of each of the key's budgets. On every response to a recognised key.",
    required: false,
    schema: { type: "integer", minimum: 0 }
  },
  "X-Error-Code": {
    description:
      "What exactly went wrong, in more detail than `error.type`. A code never changes its meaning. All present codes are listed as examples, and new ones may be added. `/docs/errors` explains each code.",
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
} satisfies Record<string, OpenApiHeader>

type HeaderName = keyof typeof headers

const onRecognisedKeys = [
  "X-Request-Id",
  "X-Data-Version",
  "X-Data-Origin",
  "X-Credits-Charged",
  "X-Credits-Remaining"
] as const
const onErrors = ["X-Error-Code", "Link"] as const

export const buildSharedResponses = (error: SchemaObject): Readonly<Record<string, OpenApiResponse>> => ({
  Unauthorized: buildFailure(error, {
    description: describeStatus(401),
    headers: ["X-Request-Id", "WWW-Authenticate"],
    examples: [errors.missingAuthorization, errors.malformedAuthorization, errors.unknownKey]
  }),
  InsufficientBalance: buildFailure(error, {
    description: describeStatus(402),
    examples: [
      errors.insufficientBalance,
      errors.dailySpendCapReached,
      errors.weeklySpendCapReached,
      errors.monthlySpendCapReached
    ]
  }),
  Internal: buildFailure(error, { description: describeStatus(500), examples: [errors.internal] }),
  Unavailable: buildFailure(error, {
    description: "The server is overloaded, or cannot record the charge. Nothing was charged.",
    headers: [...onRecognisedKeys, "Retry-After"],
    examples: [errors.overloaded, errors.tooManyInFlight, errors.ledgerUnavailable]
  })
})

export const buildResponses = (
  endpoint: Endpoint,
  data: SchemaObject,
  error: SchemaObject
): Readonly<Record<string, OpenApiResponse | Reference>> => ({
  "200": {
    description: "The response. Only this status is charged.",
    headers: toReferences(onRecognisedKeys),
    content: { "application/json": { schema: data, examples: toExamples(endpoint) } }
  },
  "400": buildFailure(error, {
    description: describeStatus(400),
    examples: collectRefusals(endpoint).map(errors.invalidRequest)
  }),
  "401": { $ref: "#/components/responses/Unauthorized" },
  "402": { $ref: "#/components/responses/InsufficientBalance" },
  "403": buildFailure(error, { description: describeStatus(403), examples: [errors.notScoped(endpoint.scope)] }),
  ...(endpoint.record !== undefined && {
    "404": buildFailure(error, {
      description: `No ${endpoint.record} has the id in the path.`,
      examples: [errors.unknownRecord(endpoint.record, "<id>")]
    })
  }),
  "500": { $ref: "#/components/responses/Internal" },
  "503": { $ref: "#/components/responses/Unavailable" }
})

const toExamples = ({ examples }: Endpoint): Readonly<Record<string, OpenApiExample>> =>
  Object.fromEntries(
    Object.entries(examples).map(([name, { body, summary, target }]) => [
      name,
      { summary, description: `\`GET ${target}\` over the bundled samples.`, value: structuredClone(body) }
    ])
  )

const describeStatus = (status: (typeof errors.errorTypes)[number]["status"]) =>
  errors.errorTypes.flatMap((error) => (error.status === status ? [error.description] : [])).join()

/** Invalid values for each kind of parameter, one for each way in which a value can be wrong. */
const invalidValues = {
  text: ["?"],
  day: ["2024-02-30"],
  limit: ["0"],
  list: ["", ",", Array(101).fill("name").join()]
} as const

/** The messages for invalid values, taken from the parameters themselves. */
const collectRefusals = (endpoint: Endpoint): ReadonlyArray<Invalid> => {
  const messages = Object.entries(endpoint.parameters).flatMap(([name, parameter]) => {
    if (parameter.kind === "cursor") return [foreignCursor]
    return invalidValues[parameter.kind].flatMap((text) => {
      const read = parameter.read(name, text)
      return "invalid" in read ? [read] : []
    })
  })
  return [...messages, ...endpoint.refusals, ...wrongNames(endpoint.parameters)]
}

interface Failure {
  readonly description: string
  readonly headers?: ReadonlyArray<HeaderName>
  readonly examples: ReadonlyArray<ApiError>
}

const buildFailure = (error: SchemaObject, failure: Failure): OpenApiResponse => ({
  description: failure.description,
  headers: toReferences([...(failure.headers ?? onRecognisedKeys), ...onErrors]),
  content: {
    "application/json": {
      schema: error,
      examples: Object.fromEntries(
        failure.examples.map((error) => [nameExample(error, failure.examples), toExample(error)])
      )
    }
  }
})

/** The error's message, with its code if another error has the same message. */
const nameExample = ({ code, message }: ApiError, all: ReadonlyArray<ApiError>) =>
  all.some((other) => other.message === message && other.code !== code) ? `${message} (${code})` : message

const toExample = ({ code, message, type }: ApiError): OpenApiExample => ({
  summary: `X-Error-Code: ${code}`,
  value: { error: { type, message } }
})

const toReferences = (names: ReadonlyArray<HeaderName>): Readonly<Record<string, Reference>> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

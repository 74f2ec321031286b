/** The answers of an operation: its data, and every error with the messages that are known in advance. */
import {
  type ApiError,
  dailySpendCapReached,
  errorTypes,
  type Invalid,
  insufficientBalance,
  internal,
  invalidRequest,
  ledgerUnavailable,
  malformedAuthorization,
  missingAuthorization,
  monthlySpendCapReached,
  notScoped,
  overloaded,
  tooManyInFlight,
  unknownKey,
  unknownRecord,
  weeklySpendCapReached
} from "../api-errors.ts"
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

/** Errors that are the same on every endpoint. */
export const sharedResponses = (error: SchemaObject): Readonly<Record<string, OpenApiResponse>> => ({
  Unauthorized: failure(error, {
    description: describe(401),
    headers: ["X-Request-Id", "WWW-Authenticate"],
    examples: [missingAuthorization, malformedAuthorization, unknownKey]
  }),
  InsufficientBalance: failure(error, {
    description: describe(402),
    examples: [insufficientBalance, dailySpendCapReached, weeklySpendCapReached, monthlySpendCapReached]
  }),
  Internal: failure(error, { description: describe(500), examples: [internal] }),
  Unavailable: failure(error, {
    description: "The server is overloaded, or cannot record the charge. Nothing was charged.",
    headers: [...onRecognisedKeys, "Retry-After"],
    examples: [overloaded, tooManyInFlight, ledgerUnavailable]
  })
})

/** Every status of one endpoint. */
export const responsesOf = (
  endpoint: Endpoint,
  data: SchemaObject,
  error: SchemaObject
): Readonly<Record<string, OpenApiResponse | Reference>> => ({
  "200": {
    description: "The response. Only this status is charged.",
    headers: references(onRecognisedKeys),
    content: { "application/json": { schema: data, examples: answers(endpoint) } }
  },
  "400": failure(error, { description: describe(400), examples: invalidParameters(endpoint).map(invalidRequest) }),
  "401": { $ref: "#/components/responses/Unauthorized" },
  "402": { $ref: "#/components/responses/InsufficientBalance" },
  "403": failure(error, { description: describe(403), examples: [notScoped(endpoint.scope)] }),
  ...(endpoint.record !== undefined && {
    "404": failure(error, {
      description: `No ${endpoint.record} has the id in the path.`,
      examples: [unknownRecord(endpoint.record, "<id>")]
    })
  }),
  "500": { $ref: "#/components/responses/Internal" },
  "503": { $ref: "#/components/responses/Unavailable" }
})

const answers = ({ examples }: Endpoint): Readonly<Record<string, OpenApiExample>> =>
  Object.fromEntries(
    Object.entries(examples).map(([name, { body, summary, target }]) => [
      name,
      { summary, description: `\`GET ${target}\` over the bundled samples.`, value: structuredClone(body) }
    ])
  )

const describe = (status: (typeof errorTypes)[number]["status"]) =>
  errorTypes.flatMap((error) => (error.status === status ? [error.description] : [])).join()

/** Invalid values for each kind of parameter, one for each way in which a value can be wrong. */
const wrong = {
  text: ["?"],
  day: ["2024-02-30"],
  limit: ["0"],
  list: ["", ",", Array(101).fill("name").join()]
} as const

/** The messages for invalid values, taken from the parameters themselves. */
const invalidParameters = (endpoint: Endpoint): ReadonlyArray<Invalid> => {
  const said = Object.entries(endpoint.parameters).flatMap(([name, parameter]) => {
    if (parameter.kind === "cursor") return [foreignCursor]
    return wrong[parameter.kind].flatMap((text) => {
      const read = parameter.read(name, text)
      return "invalid" in read ? [read] : []
    })
  })
  return [...said, ...endpoint.refusals, ...wrongNames(endpoint.parameters)]
}

interface Failure {
  readonly description: string
  readonly headers?: ReadonlyArray<HeaderName>
  readonly examples: ReadonlyArray<ApiError>
}

const failure = (error: SchemaObject, of: Failure): OpenApiResponse => ({
  description: of.description,
  headers: references([...(of.headers ?? onRecognisedKeys), ...onErrors]),
  content: {
    "application/json": {
      schema: error,
      examples: Object.fromEntries(of.examples.map((error) => [nameOf(error, of.examples), exampleOf(error)]))
    }
  }
})

/** The error's message, with its code if another error has the same message. */
const nameOf = ({ code, message }: ApiError, all: ReadonlyArray<ApiError>) =>
  all.some((other) => other.message === message && other.code !== code) ? `${message} (${code})` : message

const exampleOf = ({ code, message, type }: ApiError): OpenApiExample => ({
  summary: `X-Error-Code: ${code}`,
  value: { error: { type, message } }
})

const references = (names: ReadonlyArray<HeaderName>): Readonly<Record<string, Reference>> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

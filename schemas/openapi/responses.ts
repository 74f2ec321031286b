/** What an operation answers: its data, and every error with the messages that are known beforehand. */
import {
  type ApiError,
  errorTypes,
  insufficientBalance,
  internal,
  invalidRequest,
  malformedAuthorization,
  notFound,
  notScoped,
  spendCapReached,
  unavailable,
  unknownKey
} from "../api-errors.ts"
import type { Endpoint } from "../endpoint.ts"
import { foreignCursor } from "../parameters.ts"
import type { OpenApiExample, OpenApiHeader, OpenApiResponse, Reference, SchemaObject } from "./types.ts"

export const headers = {
  "X-Request-Id": {
    description: "Id of this request, on every answer. Name it when you report a problem.",
    required: true,
    schema: { type: "string" }
  },
  "X-Data-Version": {
    description: "Generation of the data that answered. On every answer to a recognised key.",
    required: false,
    schema: { type: "string" }
  },
  "X-Credits-Charged": {
    description: "Credits that this call cost; 0 on errors. On every answer to a recognised key.",
    required: false,
    schema: { type: "integer", minimum: 0 }
  },
  "X-Credits-Remaining": {
    description:
      "Credits that this key can still spend: the smaller of the balance and what is left of the key's monthly budget. On every answer to a recognised key.",
    required: false,
    schema: { type: "integer", minimum: 0 }
  },
  "WWW-Authenticate": { description: "Always `Bearer`.", required: true, schema: { type: "string" } },
  "Retry-After": {
    description: "Seconds to wait before trying again.",
    required: true,
    schema: { type: "integer", minimum: 0 }
  }
} satisfies Record<string, OpenApiHeader>

type HeaderName = keyof typeof headers

const onRecognisedKeys = ["X-Request-Id", "X-Data-Version", "X-Credits-Charged", "X-Credits-Remaining"] as const

/** Errors that are the same on every endpoint. */
export const sharedResponses = (error: SchemaObject): Readonly<Record<string, OpenApiResponse>> => ({
  Unauthorized: failure(error, {
    description: describe(401),
    headers: ["X-Request-Id", "WWW-Authenticate"],
    examples: [malformedAuthorization, unknownKey]
  }),
  InsufficientBalance: failure(error, {
    description: describe(402),
    examples: [insufficientBalance, spendCapReached]
  }),
  Internal: failure(error, { description: describe(500), examples: [internal] }),
  Unavailable: failure(error, {
    description: "The server is overloaded, or cannot record the charge. Nothing was charged.",
    headers: [...onRecognisedKeys, "Retry-After"],
    examples: [unavailable]
  })
})

/** Every status of one endpoint. */
export const responsesOf = (
  endpoint: Endpoint,
  data: SchemaObject,
  error: SchemaObject
): Readonly<Record<string, OpenApiResponse | Reference>> => ({
  "200": {
    description: "The answer. Only this is charged.",
    headers: references(onRecognisedKeys),
    content: { "application/json": { schema: data, examples: answers(endpoint) } }
  },
  "400": failure(error, { description: describe(400), examples: invalidMessages(endpoint).map(invalidRequest) }),
  "401": { $ref: "#/components/responses/Unauthorized" },
  "402": { $ref: "#/components/responses/InsufficientBalance" },
  "403": failure(error, { description: describe(403), examples: [notScoped(endpoint.scope)] }),
  ...(endpoint.record !== undefined && {
    "404": failure(error, {
      description: `No ${endpoint.record} has the id in the path.`,
      examples: [notFound(`Unknown ${endpoint.record}: <id>`)]
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

/** Values that are wrong in every way in which a parameter of the kind can be. */
const wrong = {
  text: ["?"],
  day: ["2024-02-30"],
  limit: ["0"],
  list: ["", ",", Array(101).fill("name").join()]
} as const

/** What the parameters say to wrong values, asked from the parameters themselves. */
const invalidMessages = (endpoint: Endpoint): ReadonlyArray<string> => {
  const said = Object.entries(endpoint.parameters).flatMap(([name, parameter]) => {
    if (parameter.kind === "cursor") return [foreignCursor]
    return wrong[parameter.kind].flatMap((text) => {
      const read = parameter.read(name, text)
      return "invalid" in read ? [read.invalid] : []
    })
  })
  return [...said, ...endpoint.invalidMessages, "Unknown query parameter: <name>", "Repeated query parameter: <name>"]
}

interface Failure {
  readonly description: string
  readonly headers?: ReadonlyArray<HeaderName>
  readonly examples: ReadonlyArray<ApiError>
}

const failure = (error: SchemaObject, of: Failure): OpenApiResponse => ({
  description: of.description,
  headers: references(of.headers ?? onRecognisedKeys),
  content: {
    "application/json": {
      schema: error,
      examples: Object.fromEntries(
        of.examples.map(({ type, message }) => [message, { value: { error: { type, message } } }])
      )
    }
  }
})

const references = (names: ReadonlyArray<HeaderName>): Readonly<Record<string, Reference>> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))

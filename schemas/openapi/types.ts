/** The part of OpenAPI 3.1 that the document uses. */
import type { JsonSchema } from "effect"
import type { VersionNote } from "./versions.ts"

export type SchemaObject = JsonSchema.JsonSchema
export type Reference = { readonly $ref: string }

export interface OpenApiServer {
  readonly url: string
  readonly description?: string
}

export interface OpenApiParameter {
  readonly name: string
  readonly in: "query" | "path"
  readonly required: boolean
  readonly description: string
  readonly schema: SchemaObject
  readonly example?: string | number
}

export interface OpenApiHeader {
  readonly description: string
  readonly required: boolean
  readonly schema: SchemaObject
}

export interface OpenApiExample {
  readonly summary?: string
  readonly description?: string
  readonly value: unknown
}

export interface OpenApiResponse {
  readonly description: string
  readonly headers: Readonly<Record<string, Reference>>
  readonly content: {
    readonly "application/json": {
      readonly schema: SchemaObject
      readonly examples?: Readonly<Record<string, OpenApiExample>>
    }
  }
}

export interface OpenApiOperation {
  readonly operationId: string
  readonly tags: ReadonlyArray<string>
  readonly summary: string
  readonly description: string
  readonly parameters: ReadonlyArray<OpenApiParameter>
  readonly responses: Readonly<Record<string, OpenApiResponse | Reference>>
  /** Set if it differs from that of the document. */
  readonly security?: OpenApiDocument["security"]
  readonly "x-scope": string
  readonly "x-credits": number
}

export interface OpenApiDocument {
  readonly openapi: "3.1.0"
  readonly info: {
    readonly title: string
    readonly summary: string
    /** Version of the API, not of the program that serves it. */
    readonly version: string
    readonly description: string
    /** Licence of the program. The data have the terms of their sources, which the tags name. */
    readonly license: { readonly name: string; readonly identifier: string }
    readonly "x-program-version": string
  }
  readonly servers: ReadonlyArray<OpenApiServer>
  readonly tags: ReadonlyArray<{ readonly name: string; readonly description: string }>
  readonly security: ReadonlyArray<Readonly<Record<string, ReadonlyArray<string>>>>
  readonly paths: Readonly<Record<string, { readonly get: OpenApiOperation }>>
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaObject>>
    readonly responses: Readonly<Record<string, OpenApiResponse>>
    readonly headers: Readonly<Record<string, OpenApiHeader>>
    readonly securitySchemes: Readonly<Record<string, Readonly<Record<string, string>>>>
  }
  readonly "x-changes": ReadonlyArray<VersionNote>
}

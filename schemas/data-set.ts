/** A data set as the API and its documents present it. */
import type { Endpoint } from "./endpoint.ts"

export interface ApiDataSet {
  /** The pipeline that fills it. Also the name of its guide below `/docs`. */
  readonly pipeline: string
  /** Its name for people, and the tag of its endpoints. */
  readonly tag: string
  /** Its contents, within a sentence. */
  readonly holds: string
  /** Its contents and source, for assistants. */
  readonly origin: string
  /** The description of the tag, in Markdown: contents and source. */
  readonly about: string
  /** The first call to try, without `/v1/`. */
  readonly firstCall: string
  readonly scopes: ReadonlyArray<string>
  readonly endpoints: ReadonlyArray<Endpoint>
}

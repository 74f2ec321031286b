/** What the API and its documents state about a data set. */
import type { Endpoint } from "./endpoint.ts"

export interface ApiDataSet {
  /** The pipeline that fills it. Also the name of its guide below `/docs`. */
  readonly pipeline: string
  /** Its name for people, and the tag of its endpoints. */
  readonly tag: string
  /** What it holds, within a sentence. */
  readonly holds: string
  /** The same for assistants, with the source. */
  readonly origin: string
  /** The description of the tag, in Markdown: what is in it, and where it comes from. */
  readonly about: string
  /** The first call to try, without `/v1/`. */
  readonly firstCall: string
  /** The scopes that a key can have for it. Each endpoint requires one of them. */
  readonly scopes: ReadonlyArray<string>
  readonly endpoints: ReadonlyArray<Endpoint>
}

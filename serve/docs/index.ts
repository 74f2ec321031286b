/** The pages of the docs, which the API serves. */
export { addDocs } from "./docs.ts"

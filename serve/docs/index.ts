/** The pages of the docs, which the API serves. */
export { addDocs } from "./docs.ts"
export { filled } from "./facts.ts"
export { guidePaths, guides } from "./guides.ts"

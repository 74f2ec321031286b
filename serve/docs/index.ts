/** The pages of the docs, which the API serves. */
export { addDocs } from "./docs.ts"
export { replacePlaceholders } from "./facts.ts"
export { guidePaths, guides } from "./guides.ts"

/** The API as tools of assistants. */
export { makeMcpHandler } from "./assistants.ts"
export { toolName } from "./guidance.ts"

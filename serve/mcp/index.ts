/** The API as tools of assistants, over HTTP and over stdin and stdout. */
export { makeMcpHandler } from "./assistants.ts"
export { toolName } from "./guidance.ts"

/** The API as tools of assistants, over HTTP and over stdin and stdout. */
export { makeAssistants } from "./assistants.ts"
export { toolName } from "./guidance.ts"

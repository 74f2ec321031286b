/** The API as tools of assistants. */
export { makeMcpHandler } from "./assistants.ts"

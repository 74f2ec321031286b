/**
 * Faults of branded-food releases, each of the form that has it. One run meets two of them, one in each form, so that nothing is
 * published and the next run finds the warehouse as it was.
 */
import type { Form } from "../support/label-releases.ts"
import { type Part, zipOf } from "../support/pipelines/handmade-zips.ts"
import type { Misbehaviour } from "./fdc-host.ts"
import { csvFiles, foodLine, goodFiles, jsonRelease, line, recordOf } from "./small-releases.ts"

export interface FormFault {
  /** As the table in the docs calls it. */
  readonly fault: string
  /** The zip that comes instead. */
  readonly body?: Buffer
  /** What the host does instead of sending it. */
  readonly host?: Misbehaviour
  /** Where the certificate of the host is not trusted. */
  readonly distrusted?: true
}
export type FaultyRelease = Readonly<Record<Form, FormFault>>

const records = (change: Readonly<Record<string, unknown>> = {}, ids: ReadonlyArray<number> = [901, 902, 903]) =>
  ids.map((id) => recordOf(id, change))
const jsonZip = (content: string | Buffer) => zipOf({ path: "brandedDownload.json", content })
const jsonOf = (change: Readonly<Record<string, unknown>>) => jsonZip(jsonRelease(records(change)))

const csv = goodFiles(900)
const changed = (name: string, change: (content: string) => string | Buffer): ReadonlyArray<Part> =>
  csv.map((part) => (part.path === name ? { ...part, content: change(part.content.toString()) } : part))
const csvOf = (name: string, change: (content: string) => string | Buffer) => zipOf(...changed(name, change))

const pairs: ReadonlyArray<FaultyRelease> = [
  {
    json: {
      fault: "JSON: a key renamed",
      body: jsonZip(jsonRelease(records().map((record) => record.replace('"foodNutrients"', '"nutrients"'))))
    },
    csv: {
      fault: "CSV: a column renamed",
      body: csvOf("food.csv", (text) => text.replace('"description"', '"title"'))
    }
  },
  {
    json: { fault: "JSON: a key missing", body: jsonOf({ publicationDate: undefined }) },
    csv: {
      fault: "CSV: a column missing",
      body: csvOf("food_nutrient.csv", (text) => text.replaceAll(/,[^,\n]*\n/g, "\n"))
    }
  },
  {
    json: { fault: "JSON: a key of another type", body: jsonOf({ foodNutrients: "none" }) },
    csv: {
      fault: "CSV: a column of another type",
      body: csvOf("food_nutrient.csv", (text) => text.replaceAll('"3.5"', '"3.5 g"'))
    }
  },
  {
    json: {
      fault: "JSON: another data set",
      body: jsonZip(jsonRelease(records()).toString().replace("BrandedFoods", "FoundationFoods"))
    },
    csv: {
      fault: "CSV: another data set",
      body: zipOf(
        ...csvFiles({
          "food.csv": line(321358, "foundation_food", "Hummus, commercial", "16", "2019-04-01"),
          "branded_food.csv": "",
          "food_nutrient.csv": ""
        }).filter(({ path }) => path !== "branded_food.csv")
      )
    }
  },
  {
    json: { fault: "JSON: no record", body: jsonZip(jsonRelease([])) },
    csv: {
      fault: "CSV: no row",
      body: zipOf(...csvFiles({ "food.csv": "", "branded_food.csv": "", "food_nutrient.csv": "" }))
    }
  },
  {
    json: { fault: "JSON: `null` as the whole file", body: jsonZip("null") },
    csv: { fault: "CSV: `null` as the whole file", body: csvOf("food.csv", () => "null") }
  },
  {
    json: { fault: "an HTML page instead of the zip", body: Buffer.from("<!doctype html><title>Sign in</title>") },
    csv: { fault: "an empty answer", body: Buffer.alloc(0) }
  },
  {
    json: { fault: "429 to each try", host: (response) => response.writeHead(429).end("slow down") },
    csv: { fault: "500 to each try", host: (response) => response.writeHead(500).end() }
  },
  {
    json: { fault: "no answer in time", host: () => undefined },
    csv: {
      fault: "a connection that breaks off in the middle, each time",
      host: (response, body) => {
        response.writeHead(200, { "content-length": body.length })
        response.write(body.subarray(0, body.length >> 1), () => response.destroy())
      }
    }
  },
  {
    json: { fault: "a certificate that is not trusted", distrusted: true },
    csv: { fault: "404 to the zip", host: (response) => response.writeHead(404).end() }
  }
]

/** The end of a CSV file that was cut inside of a record: its last line is there, and is not whole. */
const isTorn = (text: string, columns: number) => {
  const last = text.slice(text.lastIndexOf("\n") + 1)
  return last !== "" && (last.match(/"[^"]*"/g) ?? []).length < columns
}

/** A place in the content that is left, from which on it is cut; behind the header, and not between two records. */
const tornAt = (content: string, random: () => number): string => {
  const header = content.indexOf("\n") + 1
  const text = content.slice(0, header + Math.floor(random() * (content.length - header)))
  return isTorn(text, content.slice(0, header).split(",").length) ? text : tornAt(content, random)
}

/** Both zips cut, or what is inside of them, at places that follow from the seed. */
export const cutReleases = (random: () => number): ReadonlyArray<FaultyRelease> =>
  Array.from({ length: 10 }, (_, number): FaultyRelease => {
    const some = (bytes: Buffer) => bytes.subarray(0, 64 + Math.floor(random() * (bytes.length - 64)))
    const json = jsonRelease(records())
    const name = csv[number % csv.length]?.path ?? ""
    const isZip = number % 2 === 0
    return {
      json: {
        fault: isZip ? "the zip cut at any byte" : "JSON: the file cut at any byte",
        body: isZip ? some(jsonZip(json)) : jsonZip(some(json.subarray(0, -3)))
      },
      csv: {
        fault: isZip ? "the zip cut at any byte" : "CSV: a file cut inside of a record",
        body: isZip ? some(zipOf(...csv)) : csvOf(name, (content) => tornAt(content, random))
      }
    }
  })

export const faultyReleases = (random: () => number) => [...pairs, ...cutReleases(random)]

/** The dictionary of the pipeline has no number of it. */
export const unnumbered = { id: 2067, number: "960", name: "Vitamin A", unitName: "UG" }

/** Both forms with what is no reason to leave them out: a field that nothing knows, and a text that is no UTF-8. */
export const tolerated = (from: number): Readonly<Record<Form, Buffer>> => {
  const bad = from + 4
  const latin1 = (text: string) => Buffer.from(text, "latin1")
  const files = goodFiles(from).map(({ content, path }) => {
    if (path !== "food.csv") return { path, content }
    const [header = "", ...lines] = content.toString().replaceAll('"\n', '","new"\n').split("\n")
    const row = foodLine(bad, "CR\u00c8ME").replace('"\n', '","new"')
    return { path, content: latin1([header, row, ...lines].join("\n")) }
  })
  const foodNutrients = [{ id: 1, nutrient: unnumbered, amount: 5 }]
  const records = [1, 2, 3].map((id) => recordOf(from + id, { newKey: 1, foodNutrients }))
  const lines = [...records, recordOf(bad, { description: "CR\u00c8ME" })].map(latin1)
  const counts = {
    path: "all_downloaded_table_record_counts.csv",
    content: "Table,Number of Records\nfood_nutrient,30\n"
  }
  return { json: jsonZip(jsonRelease(lines)), csv: zipOf(...files, counts) }
}

/** Measures SQLite's full-text search with trigrams, in a separate process because it is synchronous. Prints the times. */
import { createReadStream, statSync } from "node:fs"
import { createInterface } from "node:readline"
import { DatabaseSync } from "node:sqlite"
import type { Alternative, Task } from "./alternatives.ts"

const { file, lines, texts } = JSON.parse(process.argv[2] ?? "{}") as Task
const db = new DatabaseSync(file)

/** Without a journal SQLite is fastest, and no other process uses the file. The index does not repeat the texts. */
db.exec(`
  pragma journal_mode = off;
  pragma synchronous = off;
  pragma cache_size = -500000;
  create table food (fdc_id integer primary key, description text not null, ingredients text not null);
  create virtual table food_text using fts5(
    description, ingredients, content = 'food', content_rowid = 'fdc_id', tokenize = 'trigram'
  );
  begin`)
const insert = db.prepare("insert into food values (?, ?, ?)")
for await (const line of createInterface({ input: createReadStream(lines) })) {
  const [fdcId = "", description = "", ingredients = ""] = line.split("\t")
  insert.run(Number(fdcId), description, ingredients)
}
db.exec("commit")
const tableBytes = statSync(file).size

const startedAt = performance.now()
db.exec("insert into food_text (food_text) values ('rebuild')")
const seconds = (performance.now() - startedAt) / 1000

const search = db.prepare("select rowid from food_text where food_text match ? order by rowid limit 50")
const measureSearch = (text: string) => {
  const searchStartedAt = performance.now()
  search.all(`ingredients : "${text}"`)
  return performance.now() - searchStartedAt
}
const milliseconds = Object.fromEntries(
  Object.entries(texts).map(([kind, textsOfKind]) => [kind, textsOfKind.map(measureSearch)])
)
console.log(JSON.stringify({ seconds, bytes: statSync(file).size - tableBytes, milliseconds } satisfies Alternative))
db.close()

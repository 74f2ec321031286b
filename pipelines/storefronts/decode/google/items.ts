/**
 * Splits an RSS or Atom feed, or `<products>`, into items, piece by piece, with at most one item in memory. It does not
 * parse; it only searches for the beginning and the end of each item, so a malformed item does not affect the others.
 * CDATA, comments and a DOCTYPE are skipped; entities that the DOCTYPE declares are never expanded.
 */
import { FeedUnreadable } from "../feed-errors.ts"
import { addGooglePrefixes, findDoctypeEnd, findTagEnd, readTagName } from "./xml-tags.ts"

export interface SplitItem {
  readonly number: number
  /** From `<item` to `</item>`. */
  readonly text: string
  /** As the end of the sentence "The item was rejected because …". */
  readonly problem: string | null
}

/** Google allows 5,000 characters of description. HTML and embedded pictures may be a hundred times as long. */
const maxItemLength = 1_000_000

/** How many characters of an oversized item the reject keeps. */
const maxRejectLength = 10_000

/** A tag or a DOCTYPE outside the items. In real feeds, they have a few hundred characters. */
const maxTagLength = 65_536

/** Nested elements around an item. Real feeds have two. */
const maxLevels = 100

const itemNames = /^(?:[^:]+:)?(?:item|entry|product)$/
const feedRoots = /^(?:[^:]+:)?(?:rss|feed|rdf|products)$/
/** One of these must follow the name; otherwise `<product_type>` would match `<product>`. */
const nameEnd = /^[\s/>]/

interface OpenItem {
  readonly name: string
  from: number
  /** Number of open elements with its name, including itself. */
  depth: number
  /** If true, the next tag with this name, opening or closing, ends the item. */
  isRejected: boolean
}

class ItemSplitter {
  /** The text that has not been read yet, including all of an open item. */
  #text = ""
  #at = 0
  #item: OpenItem | undefined
  #number = 0
  #items: Array<SplitItem> = []
  /** The section that is skipped: the text that ends it, and where it began. */
  #section: { readonly end: string; readonly from: number } | undefined
  /** Names of the open elements around the items, outermost first. */
  #ancestors: Array<string> = []
  #root: string | undefined
  readonly #prefixes: Set<string>

  constructor(prefixes: Set<string>) {
    this.#prefixes = prefixes
  }

  /** Returns the items that are complete and, if the feed cannot be read any further, the reason. */
  read(piece: string, isLast: boolean): { readonly items: ReadonlyArray<SplitItem>; readonly problem: string | null } {
    this.#text += piece
    this.#items = []
    let problem: string | null = null
    try {
      do while (this.#step());
      while (this.#rejectLongItem() || (isLast && this.#rejectOpenItem()))
      this.#dropReadText()
      if (isLast) problem = this.#findProblemAtEnd()
    } catch (cause) {
      if (!(cause instanceof FeedUnreadable)) throw cause
      problem = cause.problem
    }
    return { items: this.#items, problem }
  }

  #dropReadText() {
    const from = this.#item?.isRejected === false ? this.#item.from : this.#at
    this.#text = this.#text.slice(from)
    this.#at -= from
    if (this.#item !== undefined) this.#item.from -= from
    if (this.#section !== undefined)
      this.#section = { end: this.#section.end, from: Math.max(this.#section.from - from, 0) }
  }

  #rejectLongItem(): boolean {
    if (this.#item?.isRejected !== false || this.#text.length - this.#item.from <= maxItemLength) return false
    return this.#rejectItem(this.#item, `it is longer than ${maxItemLength} characters, or does not end`)
  }

  #rejectOpenItem(): boolean {
    if (this.#item?.isRejected !== false || this.#section === undefined) return false
    return this.#rejectItem(this.#item, `a comment or CDATA in it has no "${this.#section.end}"`)
  }

  /** CDATA or a comment without an end is ignored: the text after its beginning is searched again. */
  #rejectItem(item: OpenItem, problem: string): true {
    this.#emitItem(this.#text.length, problem)
    item.isRejected = true
    if (this.#section !== undefined) this.#at = this.#section.from
    this.#section = undefined
    return true
  }

  #findProblemAtEnd(): string | null {
    if (this.#item?.isRejected === false)
      return `The feed ends within item ${this.#number}, before its end tag: it is cut off.`
    if (this.#section !== undefined) return `The feed ends before "${this.#section.end}": it is cut off.`
    if (this.#root === undefined) return "It contains no element: this is not a feed."
    const [outermost] = this.#ancestors
    if (outermost !== undefined) return `The feed ends before </${outermost}>: it is cut off.`
    if (this.#number > 0 || feedRoots.test(this.#root)) return null
    return `Its <${this.#root}> contains no <item>, <entry> or <product>: this is not a product feed.`
  }

  /** Reads one tag, comment or CDATA. False if more text is needed. */
  #step(): boolean {
    if (this.#section !== undefined) return this.#skipSection(this.#section)
    const at = this.#text.indexOf("<", this.#at)
    this.#at = at === -1 ? this.#text.length : at
    const next = this.#text[this.#at + 1]
    if (next === undefined) return false
    if (this.#item?.isRejected === true) return this.#stepInItem(this.#item)
    if (next === "!") return this.#stepDeclaration()
    return this.#item === undefined ? this.#stepOutside() : this.#stepInItem(this.#item)
  }

  #stepTo(at: number): true {
    this.#at = at
    return true
  }

  #skipSection({ end, from }: { readonly end: string; readonly from: number }): boolean {
    const index = this.#text.indexOf(end, Math.max(this.#at, from))
    if (index === -1) {
      this.#at = Math.max(from, this.#text.length - end.length + 1)
      return false
    }
    this.#section = undefined
    return this.#stepTo(index + end.length)
  }

  #beginSection(opening: string, end: string): true {
    this.#section = { end, from: this.#at + opening.length }
    return this.#stepTo(this.#section.from)
  }

  #stepDeclaration(): boolean {
    const start = this.#text.slice(this.#at, this.#at + "<![CDATA[".length)
    if (start.startsWith("<!--")) return this.#beginSection("<!--", "-->")
    if (start === "<![CDATA[") return this.#beginSection(start, "]]>")
    if (start.length < "<![CDATA[".length) return false
    if (this.#item !== undefined) return this.#stepTo(this.#at + 2)
    const end = findDoctypeEnd(this.#text, this.#at)
    if (end !== -1) return this.#stepTo(end)
    if (this.#text.length - this.#at <= maxTagLength) return false
    throw new FeedUnreadable(`Its DOCTYPE does not end within ${maxTagLength} characters.`)
  }

  /** Reads a tag that is outside the items or begins one. */
  #stepOutside(): boolean {
    const at = this.#at
    if (this.#text[at + 1] === "?") return this.#beginSection("<?", "?>")
    if (this.#text[at + 1] === "/" && this.#text.length === at + 2) return false
    const name = readTagName(this.#text, at)
    if (name === undefined) return this.#stepTo(at + 1)
    const end = findTagEnd(this.#text, at)
    if (end === -1) return this.#text.length - at > maxTagLength && this.#stepTo(at + 1)
    this.#stepTo(end)
    if (this.#text[end - 1] !== ">") return true
    const tag = this.#text.slice(at, end)
    if (tag.startsWith("</")) this.#close(name)
    else {
      addGooglePrefixes(tag, this.#prefixes)
      if (itemNames.test(name)) this.#beginItem(name, tag, at)
      else this.#openElement(name, tag)
    }
    return true
  }

  #close(name: string) {
    const depth = this.#ancestors.lastIndexOf(name)
    if (depth !== -1) this.#ancestors.length = depth
  }

  #openElement(name: string, tag: string) {
    this.#root ??= name
    if (this.#root === "html") throw new FeedUnreadable("This is an HTML page, not a feed.")
    if (tag.endsWith("/>")) return
    this.#ancestors.push(name)
    if (this.#ancestors.length > maxLevels) {
      throw new FeedUnreadable(
        `More than ${maxLevels} elements are nested, and none of them is an item: this is not a feed.`
      )
    }
  }

  #beginItem(name: string, tag: string, from: number) {
    this.#root ??= name
    this.#number++
    this.#item = { name, from, depth: 1, isRejected: false }
    if (tag.endsWith("/>")) this.#endItem(this.#at)
  }

  /** Reads a tag inside an item; only tags with the item's name matter. */
  #stepInItem(item: OpenItem): boolean {
    const at = this.#at
    const isClosing = this.#text[at + 1] === "/"
    const from = at + (isClosing ? 2 : 1)
    const next = this.#text.slice(from + item.name.length, from + item.name.length + 1)
    if (next === "") return false
    const isOwn = nameEnd.test(next) && this.#text.slice(from, from + item.name.length).toLowerCase() === item.name
    if (!isOwn) return this.#stepTo(at + 1)
    // Items are not nested. Only a product may have a field with its own name, so its depth is counted.
    if (!isClosing && (item.isRejected || !item.name.endsWith("product"))) return this.#endUnclosed(item)
    const end = isClosing ? this.#text.indexOf(">", from) + 1 : findTagEnd(this.#text, at)
    if (end <= 0) return false
    this.#stepTo(end)
    if (isClosing) item.depth--
    else if (!this.#text.slice(at, end).endsWith("/>")) item.depth++
    if (item.isRejected || item.depth === 0) this.#endItem(end)
    return true
  }

  #endUnclosed(item: OpenItem): true {
    if (!item.isRejected) this.#emitItem(this.#at, `its </${item.name}> is missing`)
    this.#item = undefined
    return true
  }

  #endItem(end: number) {
    if (this.#item?.isRejected === false) this.#emitItem(end, null)
    this.#item = undefined
  }

  #emitItem(end: number, problem: string | null) {
    const text = this.#text.slice(this.#item?.from ?? 0, end)
    if (text.length <= maxItemLength) this.#items.push({ number: this.#number, text, problem })
    else {
      const reason = problem ?? `it is longer than ${maxItemLength} characters`
      this.#items.push({ number: this.#number, text: text.slice(0, maxRejectLength), problem: reason })
    }
  }
}

/**
 * Yields groups of items. Throws `FeedUnreadable`. The feed's prefixes for Google's namespace are added to
 * `prefixes`, in lower case, before the items that use them are yielded.
 */
export async function* splitItems(
  pieces: AsyncIterable<string>,
  prefixes: Set<string>
): AsyncGenerator<ReadonlyArray<SplitItem>> {
  const splitter = new ItemSplitter(prefixes)
  const readPiece = function* (piece: string, isLast: boolean) {
    const { items, problem } = splitter.read(piece, isLast)
    if (items.length > 0) yield items
    if (problem !== null) throw new FeedUnreadable(problem)
  }
  for await (const piece of pieces) yield* readPiece(piece, false)
  yield* readPiece("", true)
}

/** Recognises what stores list but do not sell as goods: gift cards, parcel protection, warranties, fees, donations. */

interface Listed {
  readonly title: string
  readonly product_type: string | null
  readonly handle?: string | null
  readonly tags: ReadonlyArray<string>
  /** Of each variant; null if the feed does not state it. */
  readonly requires_shipping?: ReadonlyArray<boolean | null>
}

/** As a whole title, `route` and `insurance` name parcel protection; in a longer title they are roads and books. */
const names = [
  /\bgift\W?(?:cards?|vouchers?|certificates?)\b/i,
  /\b(?:shipping|package|parcel|delivery|order|route|checkout)\W{0,3}(?:package\W)?(?:protection|protect|insurance|assurance)\b/i,
  /\b(?:mc-?)?hidden-?fee\b/i,
  /^(?:route|donations?|insurance|tips?|gratuity|shipping|shipping (?:fee|cost|charge)|additional (?:fee|charge)|deposit)$/i,
  /\bdonation (?:to|for)\b|\bdonate\b/i,
  /\b(?:extended|product) warranty\b/i,
  /^(?:cadou card|card cadou|geschenkgutschein|gutschein|carte cadeau|tarjeta (?:de )?regalo|presentkort|karta podarunkowa|подарункова карта|подарочная карта|بطاقة هدية|hediye kartı)$/i
]

const isNamed = (text: string) => names.some((name) => name.test(text.trim()))

/** A product of which no variant is shipped is not merchandise either: a service, a file, a fee. */
export const isMerchandise = (product: Listed) => {
  const shipping = product.requires_shipping ?? []
  if (shipping.length > 0 && shipping.every((needed) => needed === false)) return false
  if (isNamed(product.title) || (product.product_type !== null && isNamed(product.product_type))) return false
  if (
    product.handle != null &&
    /^(?:mc-)?hidden-fee|^gift-?card$|^(?:route|shipping)-?protection/.test(product.handle)
  ) {
    return false
  }
  return !product.tags.some((tag) => /^(?:mc-)?hidden-?fee$/i.test(tag.trim()))
}

/** An element of a list. Throws if it is missing, which is a bug of the generator. */
export const getElement = <T>(list: ReadonlyArray<T>, index: number): T => {
  const value = list[index]
  if (value === undefined) throw new RangeError(`no element ${index} in a list of ${list.length}`)
  return value
}

/** The value of a key. Throws if it is missing. */
export const getValue = <K, V>(map: ReadonlyMap<K, V>, key: K): V => {
  const value = map.get(key)
  if (value === undefined) throw new RangeError(`no value for ${String(key)}`)
  return value
}

/**
 * What a journal file holds after a stop of any kind. A group is written only after the one before it is on the disk, so
 * a crash can spoil nothing but the last group of the last file. That tail is cut off; anything else is damage.
 */

import type { Group } from "../machine.ts"
import { groupAt, nextStart, startsAt } from "./journal-group.ts"

interface JournalContents {
  readonly groups: ReadonlyArray<Group>
  /** Length of the whole groups. Behind them is space that was never written, or what an older file has left there. */
  readonly length: number
  /** Whether a group begins behind them that was not written to its end. */
  readonly isTorn: boolean
}

interface JournalDamage {
  readonly problem: string
}

/** Reads the bytes of a file with its number. Every file but the last one was sealed: groups and line breaks, no more. */
export const readJournal = (bytes: Buffer, journal: number, isLastFile: boolean): JournalContents | JournalDamage => {
  const groups: Array<Group> = []
  let length = 0
  for (let next = groupAt(bytes, 0, journal); next !== undefined; next = groupAt(bytes, length, journal)) {
    groups.push(next.group)
    length = next.end
  }
  const place = `group ${groups.length + 1}, at byte ${length}, is not what was written`
  if (wholeGroupFollows(bytes, length, journal)) return { problem: `${place}, and whole groups follow it` }
  if (!isLastFile && /[^\n]/.test(bytes.toString("latin1", length))) {
    return { problem: `${place}, and later files follow` }
  }
  return { groups, length, isTorn: startsAt(bytes, length, journal) }
}

const wholeGroupFollows = (bytes: Buffer, from: number, journal: number) => {
  for (let at = nextStart(bytes, from, journal); at >= 0; at = nextStart(bytes, at + 1, journal)) {
    if (groupAt(bytes, at, journal) !== undefined) return true
  }
  return false
}

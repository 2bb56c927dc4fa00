// Finds http(s) addresses in text and takes the text apart there, so that it can be shown as text and links, never parsed (T051).
// Linear in the length of the text. Pure.

export interface Piece {
  text: string
  href?: string
}

/** More links than anybody follows stay text: each is an element. */
const LINKS_MAX = 2000
const URL_MAX = 4096
// White space, quotes, angle brackets, and what cannot be seen end an address.
const ADDRESS = /\bhttps?:\/\/[^\s<>"'`\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gi
const CLOSING: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

export function linkify(text: string): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  let links = 0
  for (const found of text.matchAll(ADDRESS)) {
    const address = trimmed(found[0])
    if (!followable(address)) continue
    if (found.index > at) pieces.push({ text: text.slice(at, found.index) })
    pieces.push({ text: address, href: address })
    at = found.index + address.length
    if (++links === LINKS_MAX) break
  }
  if (at < text.length) pieces.push({ text: text.slice(at) })
  return pieces
}

/** Without the punctuation of the sentence; a bracket stays when it was opened within. */
function trimmed(address: string): string {
  const balance: Record<string, number> = {}
  for (const letter of address) {
    if ('([{'.includes(letter)) balance[letter] = (balance[letter] ?? 0) + 1
    const opening = CLOSING[letter]
    if (opening) balance[opening] = (balance[opening] ?? 0) - 1
  }
  let end = address.length
  for (; end > 0; end--) {
    const last = address[end - 1] ?? ''
    const opening = CLOSING[last]
    if (opening && (balance[opening] ?? 0) < 0) balance[opening] = (balance[opening] ?? 0) + 1
    else if (!'.,;:!?…*_|»“”’。、，！？'.includes(last)) break
  }
  return address.slice(0, end)
}

/** A name before the host is there to deceive. */
function followable(address: string): boolean {
  if (address.length > URL_MAX) return false
  try {
    const url = new URL(address)
    return /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  } catch {
    return false
  }
}

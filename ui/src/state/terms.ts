// The text of a search cut into its terms, as far as the page must know them: to suggest, to wait, and to mark a mistake. Pure; the
// server alone decides what a search means.

export interface Term {
  start: number
  end: number
  /** Before the colon; null for a word or a phrase. */
  key: string | null
  value: string
  /** Where the value begins. */
  at: number
  /** A quote was opened and not closed. */
  open: boolean
}

/** The words of the language, from `readServer`. */
export interface Words {
  keys: readonly string[]
  has: readonly string[]
}

export function terms(text: string): Term[] {
  const found: Term[] = []
  let at = 0
  while (at < text.length) {
    if (/\s/.test(text[at] ?? '')) at++
    else {
      const term = termAt(text, at)
      found.push(term)
      at = term.end
    }
  }
  return found
}

function termAt(text: string, start: number): Term {
  const [head = '', key] = /^-?(?:([A-Za-z]+):(?!\/\/))?/.exec(text.slice(start)) ?? []
  const at = start + head.length
  let end = at
  let open = false
  while (end < text.length && (open || !/\s/.test(text[end] ?? ''))) {
    if (open && text[end] === '\\') end++
    else if (text[end] === '"') open = !open
    end++
  }
  end = Math.min(end, text.length)
  return { start, end, at, key: key?.toLowerCase() ?? null, value: text.slice(at, end).replace(/^"|"$/g, ''), open }
}

/** Whether it is worth asking: nobody is in the middle of a key, a phrase or a minus. */
export function isFinished(text: string): boolean {
  return terms(text).every((term) => !term.open && term.value !== '')
}

/** Where the server's refusal points to, and the search with its `nearest` put there. */
export interface Mark {
  start: number
  end: number
  mended: string | null
}

/** `detail` and `nearest` are the refusal's; the place is found by the same rules. */
export function mark(text: string, words: Words, detail: string, nearest: string | null): Mark | null {
  const put = (start: number, end: number): Mark => ({ start, end, mended: nearest === null ? null : text.slice(0, start) + nearest + text.slice(end) })
  for (const term of terms(text)) {
    if (term.key !== null && !words.keys.includes(term.key)) return put(term.at - term.key.length - 1, term.at - 1)
    if (term.open || term.value === '') return put(term.start, term.end)
    const value = term.value.toLowerCase()
    if (term.key === 'has' && !words.has.includes(value)) return put(term.at, term.end)
    if (/^(larger|smaller|after|before)$/.test(term.key ?? '') && detail.toLowerCase().includes(`"${value}"`)) return put(term.at, term.end)
  }
  return null
}

// Every text 40 % longer and visibly not English, so that tests show what does not fit and what is not translated.
const letters: Record<string, string> = { a: 'å', e: 'é', i: 'ï', o: 'ø', u: 'ü', A: 'Å', E: 'É', O: 'Ø', U: 'Ü', n: 'ñ', c: 'ç' }

export function stretched(text: string): string {
  const odd = text.replace(/[aeiouAEOUnc]/g, (letter) => letters[letter] ?? letter)
  return `${odd}${'~'.repeat(Math.ceil(text.length * 0.4))}`
}

// The source in chunks: cut at ends of lines, nothing lost, nothing twice, and no more than is shown.
import { expect, it } from 'vitest'
import { connect } from '../api/client'
import { CHUNK, SHOWN_MAX, SourceText } from './source.svelte'

function served(text: string): SourceText {
  const bytes = new TextEncoder().encode(text)
  const stream = () =>
    new ReadableStream<Uint8Array>({
      start(to) {
        for (let at = 0; at < bytes.length; at += 10_007) to.enqueue(bytes.slice(at, at + 10_007))
        to.close()
      },
    })
  return new SourceText(connect(new URL('http://postkeep.test/'), async () => new Response(stream(), { status: 200 })))
}

async function all(source: SourceText): Promise<string> {
  source.open('ben', '1')
  for (let n = 0; n < 40 && !source.ended && !source.full; n++) {
    await source.more()
    await new Promise((done) => setTimeout(done))
  }
  return source.chunks.join('')
}

it('shows a short source whole', async () => {
  const source = served('a\r\nb\r\n')
  expect(await all(source)).toBe('a\nb\n')
  expect(source.lines).toBe(2)
})

it('goes on where it stopped, at the end of a line', async () => {
  const text = Array.from({ length: 30_000 }, (_, at) => `line ${at} ä€😀`).join('\n')
  const source = served(text)
  const shown = await all(source)
  expect(source.chunks.length).toBeGreaterThan(2)
  expect(source.chunks.slice(0, -1).every((chunk) => chunk.endsWith('\n'))).toBe(true)
  expect(shown).toBe(text)
  expect(source.lines).toBe(30_000)
})

it('does not cut a letter in two where a line is longer than a chunk', async () => {
  const text = '€'.repeat(CHUNK)
  expect(await all(served(text))).toBe(text)
})

it('ends when a chunk ends just there', async () => {
  const text = `${'x'.repeat(CHUNK - 1)}\n`
  const source = served(text)
  expect(await all(source)).toBe(text)
  expect(source.ended).toBe(true)
})

it('shows no more than its limit', async () => {
  const source = served(`${'y'.repeat(99)}\n`.repeat(SHOWN_MAX / 50))
  await all(source)
  expect(source.full).toBe(true)
  expect(source.shown).toBeLessThanOrEqual(SHOWN_MAX + CHUNK)
})

// Packs what was built, so that the server need not: beside each file one for brotli and one for gzip, where that helps. The
// same bytes always give the same bytes. index.html is left out, as the server writes the prefix into it.
// `node scripts/compress.mjs [FOLDER]`; it knows nothing of how the files were made.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

// What saves less than this share is not worth a second file.
const WORTH = 0.05

const folder = process.argv[2] ?? 'dist'
const isPlain = (name) => !/\.(br|gz)$/.test(name) && name !== 'index.html'
const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
const names = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name))

const brotli = (bytes) =>
  brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  })
const gzip = (bytes) => gzipSync(bytes, { level: 9 })

const total = { plain: 0, br: 0, gz: 0 }
for (const name of names.map((path) => path.slice(folder.length + 1)).filter(isPlain).sort()) {
  const bytes = readFileSync(join(folder, name))
  const sizes = { plain: bytes.length, br: bytes.length, gz: bytes.length }
  for (const [ending, packed] of [['br', brotli(bytes)], ['gz', gzip(bytes)]]) {
    if (packed.length > bytes.length * (1 - WORTH)) continue
    writeFileSync(join(folder, `${name}.${ending}`), packed)
    sizes[ending] = packed.length
  }
  for (const form of Object.keys(total)) total[form] += sizes[form]
  tell(name, sizes)
}
tell('all of it', total)

function tell(name, { plain, br, gz }) {
  const column = (number) => String(number).padStart(9)
  console.log(`${name.padEnd(40)}${column(plain)}${column(br)} br${column(gz)} gz`)
}

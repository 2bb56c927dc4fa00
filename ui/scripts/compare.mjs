// Whether the built page that is committed is the one that the sources give: `node scripts/compare.mjs COMMITTED BUILT`. Plain
// files are compared byte by byte; a packed one has to unpack to the file it stands beside, as another version of the
// packer may pack otherwise. It changes nothing.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

const [committed, built] = process.argv.slice(2)
// So many differences are told; more say nothing new.
const TOLD = 12
const unpack = { br: brotliDecompressSync, gz: gunzipSync }

const list = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    : []
const ours = new Set(list(committed))
const theirs = new Set(list(built))

const wrong = []
for (const name of [...new Set([...ours, ...theirs])].sort()) {
  if (!ours.has(name)) wrong.push(`${name} is missing`)
  else if (!theirs.has(name)) wrong.push(`${name} is left over`)
  else if (!isSame(name)) wrong.push(`${name} differs`)
}
for (const line of wrong.slice(0, TOLD)) console.log(`${committed}/${line}`)
if (wrong.length > TOLD) console.log(`and ${wrong.length - TOLD} more`)
if (wrong.length > 0) {
  console.log('The page that is committed is not the one that ui/ gives: run `npm run build` in ui/ and commit ui/dist as well.')
  process.exit(1)
}
console.log(`${ours.size} files of the page are what ui/ gives`)

function isSame(name) {
  const bytes = readFileSync(join(committed, name))
  const [, plain, ending] = /^(.*)\.(br|gz)$/.exec(name) ?? []
  if (plain === undefined) return bytes.equals(readFileSync(join(built, name)))
  try {
    return unpack[ending](bytes).equals(readFileSync(join(built, plain)))
  } catch {
    return false
  }
}

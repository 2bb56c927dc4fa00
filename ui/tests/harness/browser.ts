// Which browsers the tests drive, and a network in which nothing but this machine exists. Knows nothing of the page.
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Names that lead to this machine; every other name leads nowhere. */
export const AFAR = 'staging.test'
export const CANARIES = ['one.canary.test', 'two.canary.test'] as const

const rules = ['MAP *.canary.test 127.0.0.1', `MAP ${AFAR} 127.0.0.1`, 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1', 'EXCLUDE localhost']

export const flags = [
  '--no-sandbox', '--disable-dev-shm-usage', '--disable-background-networking', '--disable-component-update', '--no-first-run', '--force-color-profile=srgb',
  `--host-resolver-rules=${rules.join(', ')}`,
]

/** The browser of the `CHROMIUM` variable, or the first on the PATH. */
export const chromium = (): string => process.env.CHROMIUM ?? found('chromium', 'chromium-browser', 'google-chrome')
export const firefox = (): string => process.env.FIREFOX ?? found('firefox-esr', 'firefox')

function found(...names: string[]): string {
  for (const name of names) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      if (folder && existsSync(join(folder, name))) return join(folder, name)
    }
  }
  throw new Error(`There is no ${names[0]} on the PATH: install it, or say where it is in ${names[0] === 'chromium' ? 'CHROMIUM' : 'FIREFOX'}.`)
}

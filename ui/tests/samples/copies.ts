// How each "Copy as" text is run: as the test of its tool, while mail like the one it was copied from comes in.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { venv } from './trades'
import { UI, Workshop, type Run } from './workshop'

export interface Waiter {
  needs: string[]
  slow?: boolean
  /** Everything that takes long, before mail is sent. */
  ready: (shop: Workshop, text: string) => Promise<void>
  run: (shop: Workshop, text: string) => Promise<Run>
}

const CLIENT = join(UI, '../crates/client')
const CARGO = `[package]
name = "hello"
version = "0.0.0"
edition = "2024"

[dependencies]
postkeep-client = { path = ${JSON.stringify(CLIENT)} }
tokio = { version = "1", features = ["macros", "rt"] }

[workspace]
`

export const WAITERS: Record<string, Waiter> = {
  curl: {
    needs: ['curl', 'sed'],
    ready: async () => undefined,
    run: (shop, text) => shop.paste(text),
  },
  Playwright: {
    needs: ['node'],
    ready: async (shop, text) => {
      shop.link()
      shop.write('hello.spec.ts', text)
    },
    // One of its own, which does not take this run's settings.
    run: (shop) => {
      shop.env = { PLAYWRIGHT_JSON_OUTPUT_NAME: '', TEST_WORKER_INDEX: '' }
      return shop.run('node_modules/.bin/playwright', ['test', '--reporter=line'])
    },
  },
  pytest: {
    needs: ['python3'], slow: true,
    ready: async (shop, text) => {
      shop.path.push(await venv('pytest', 'pytest'))
      shop.write('test_hello.py', text)
    },
    run: (shop) => shop.run('pytest', ['-q', 'test_hello.py']),
  },
  Rust: {
    needs: ['cargo'], slow: true,
    ready: async (shop, text) => {
      shop.env = { CARGO_TARGET_DIR: new Workshop('cargo').folder }
      shop.write('Cargo.toml', CARGO)
      // The client wants no older compiler than its repository does.
      shop.write('rust-toolchain.toml', readFileSync(join(UI, '../rust-toolchain.toml'), 'utf8'))
      shop.write('src/lib.rs', '')
      shop.write('tests/hello.rs', text)
      await shop.must('cargo', ['test', '--quiet', '--no-run'], 900)
    },
    run: (shop) => shop.run('cargo', ['test', '--quiet'], 120),
  },
}


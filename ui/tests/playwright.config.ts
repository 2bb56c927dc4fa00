// What is run, in which browser and how long it may take. `LONG=1` is every engine, every mode and full sizes.
import { defineConfig } from '@playwright/test'
import { chromium, flags } from './harness/browser'

const long = process.env.LONG === '1'

export default defineConfig({
  testDir: '.',
  outputDir: 'out/results',
  workers: 1,
  fullyParallel: false,
  forbidOnly: process.env.CI !== undefined,
  // Times are noisy where cores are few: what passes at the second try is called flaky in the report.
  retries: long ? 0 : 1,
  timeout: long ? 300_000 : 60_000,
  expect: { timeout: 8_000 },
  reporter: [['list'], ['json', { outputFile: 'out/report.json' }]],
  use: {
    browserName: 'chromium',
    headless: true,
    locale: 'en-GB',
    timezoneId: 'Europe/Vienna',
    viewport: { width: 1440, height: 900 },
    actionTimeout: 8_000,
    launchOptions: { executablePath: chromium(), args: flags },
    trace: 'off',
    screenshot: 'only-on-failure',
  },
  projects: [
    { name: 'facts', testMatch: 'facts/*.spec.ts' },
    { name: 'streams', testMatch: 'streams.spec.ts' },
    { name: 'axe', testMatch: 'axe.spec.ts' },
    { name: 'hostile', testMatch: 'hostile/*.spec.ts' },
    { name: 'budget', testMatch: 'budget/*.spec.ts' },
    { name: 'look', testMatch: 'look.spec.ts' },
    { name: 'samples', testMatch: 'samples.spec.ts' },
  ],
})

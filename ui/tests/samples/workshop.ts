// A folder to run copied texts in, with the real programs of this machine. Knows neither the page nor the texts.
import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const UI = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
/** What is fetched once for all runs on this machine: packages, skeletons of projects, what compilers made. */
const PANTRY = process.env.POSTKEEP_SAMPLES ?? join(tmpdir(), 'postkeep-samples')

/** Which of these programs are not on the PATH. */
export function missing(...programs: string[]): string[] {
  return programs.filter((name) => !(process.env.PATH ?? '').split(delimiter).some((folder) => folder && runs(join(folder, name))))
}

function runs(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export interface Run {
  code: number | null
  output: string
}

/** What a run needs lies where this machine does not get to. */
export class Unfetched extends Error {}
const AFAR = /resolve host|getaddrinfo|name or service not known|name resolution|ENOTFOUND|EAI_AGAIN|network is unreachable/i

export class Workshop {
  readonly folder: string
  /** In front of the PATH of what is run. */
  readonly path: string[] = []
  env: Record<string, string> = {}

  /** A new folder, or the kept one of this name. */
  constructor(kept?: string) {
    if (kept) mkdirSync((this.folder = join(PANTRY, kept)), { recursive: true })
    else this.folder = mkdtempSync(join(tmpdir(), 'postkeep-sample-'))
  }

  at(...names: string[]): string {
    return join(this.folder, ...names)
  }

  has(...names: string[]): boolean {
    return existsSync(this.at(...names))
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(this.at(name)), { recursive: true })
    writeFileSync(this.at(name), text)
  }

  /** The packages that the page's tests have. */
  link(): void {
    symlinkSync(join(UI, 'node_modules'), this.at('node_modules'))
  }

  /** As pasted into a terminal. */
  paste(text: string, seconds = 120): Promise<Run> {
    return this.run('sh', ['-c', text], seconds)
  }

  run(program: string, words: string[], seconds = 120): Promise<Run> {
    const env = { ...process.env, ...this.env, PATH: [...this.path, process.env.PATH].join(delimiter) }
    const child = spawn(program, words, { cwd: this.folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    let output = ''
    child.stdout.on('data', (data: Buffer) => (output += data.toString()))
    child.stderr.on('data', (data: Buffer) => (output += data.toString()))
    const late = setTimeout(() => {
      output += `\n(ended after ${seconds} s)`
      // With its children, which a shell would leave behind.
      if (child.pid) process.kill(-child.pid, 'SIGKILL')
    }, seconds * 1000)
    return new Promise((done, failed) => {
      child.on('error', failed)
      child.on('close', (code) => (clearTimeout(late), done({ code, output })))
    })
  }

  /** The same, where anything but success is the test's end. */
  async must(program: string, words: string[], seconds = 300): Promise<string> {
    const { code, output } = await this.run(program, words, seconds)
    if (code !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${code}:\n${output.slice(-4000)}`)
    return output
  }

  /** The same for what comes over the network. */
  async fetch(program: string, words: string[], seconds = 900): Promise<void> {
    const { code, output } = await this.run(program, words, seconds)
    if (code === 0) return
    const told = `${program} ${words.join(' ')} ended with ${code}`
    throw AFAR.test(output) ? new Unfetched(`${told}: its packages are out of reach from here`) : new Error(`${told}:\n${output.slice(-4000)}`)
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

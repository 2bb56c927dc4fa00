// The real program, started for a test: free ports, a folder of its own, and an end that leaves nothing behind.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type Engine = 'memory' | 'disk' | 'jetstream'
export interface Options {
  engine?: Engine
  mode?: 'open' | 'token' | 'public'
  /** Further keys, as `--set` takes them. */
  set?: Record<string, string>
  /** Scopes of the token that `token` will be. */
  scope?: string
}

const program = process.env.POSTKEEP_BIN ?? 'postkeep'
/** A page that is just being worked on, instead of the one inside the program. */
const folder = process.env.POSTKEEP_PAGE ?? ''
/** `xtask cluster run -- npm run e2e` tells where the brokers are. */
const brokers = process.env.POSTKEEP_TEST_URLS ?? ''

/** The engines that this run is about: with LONG all that are there. */
export const engines: Engine[] = process.env.LONG === '1' ? ['memory', 'disk', ...(brokers ? (['jetstream'] as const) : [])] : ['memory']

/** Variables that begin with the program's name would be read as its configuration. */
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('POSTKEEP_')))

export class Server {
  readonly home = mkdtempSync(join(tmpdir(), 'postkeep-page-'))
  readonly mode: string
  /** Good for `scope`; empty where none is needed. */
  token = ''
  http = ''
  smtp = ''
  log = ''
  #words: string[] = []
  #child: ChildProcess | undefined

  private constructor(options: Options) {
    this.mode = options.mode ?? 'open'
    const engine = options.engine ?? 'memory'
    const settings: Record<string, string> = {
      'smtp.addr': '127.0.0.1:0', 'http.addr': '127.0.0.1:0', 'pop3.addr': '', 'access.mode': this.mode,
      'mailbox.messages_max': '20000', 'store.memory.bytes_max': '1GiB', 'smtp.hostname': 'postkeep.test', 'http.rate_per_ip': 'off', 'events.per_ip_max': '0',
      'store.engine': engine, ...(engine === 'disk' && { 'store.disk.path': join(this.home, 'data') }),
      ...(engine === 'jetstream' && { 'store.jetstream.urls': brokers, 'store.jetstream.prefix': `page-${process.pid}-${Date.now().toString(36)}`, 'store.jetstream.sync_waived': 'true' }),
      ...(folder && { 'http.page_folder': folder }), ...options.set,
    }
    this.#words = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
    if (this.mode === 'token' || options.scope) this.#issue(options.scope ?? 'admin:*')
  }

  static async start(options: Options = {}): Promise<Server> {
    const server = new Server(options)
    await server.#start()
    return server
  }

  get url(): string {
    return `http://${this.http}`
  }
  get httpPort(): number {
    return Number(this.http.split(':').at(-1))
  }
  get smtpPort(): number {
    return Number(this.smtp.split(':').at(-1))
  }

  /** Politely, and away with all it kept. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM')
    rmSync(this.home, { recursive: true, force: true })
  }

  /** As a power cut would. */
  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  /** On the same ports as before, with what is on its disk. */
  async again(): Promise<void> {
    this.#words.push('--set', `smtp.addr=${this.smtp}`, '--set', `http.addr=${this.http}`)
    await this.#start()
  }

  /** Answers of the API as JSON, with the token if there is one. */
  async ask<T = unknown>(path: string, init: RequestInit = {}): Promise<T> {
    const headers = { ...(this.token && { authorization: `Bearer ${this.token}` }), ...(init.body && { 'content-type': 'application/json' }) }
    const response = await fetch(`${this.url}${path}`, { headers, ...init })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (response.status === 204 ? undefined : await response.json()) as T
  }

  #issue(scope: string): void {
    const table = execFileSync(program, ['token', 'new', '--scope', scope], { env: environment, encoding: 'utf8' })
    this.token = /^# token: (\S+)/.exec(table)?.[1] ?? ''
    writeFileSync(join(this.home, 'tokens.toml'), table)
    this.#words.unshift('--config', join(this.home, 'tokens.toml'))
  }

  async #start(): Promise<void> {
    const child = spawn(program, this.#words, { cwd: this.home, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = child
    child.stderr.on('data', (data: Buffer) => (this.log += data.toString()))
    const ready = await new Promise<string>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code) => reject(new Error(`postkeep ended with ${code}: ${this.log}`)))
      createInterface({ input: child.stdout }).on('line', (line) => line.startsWith('ready ') && resolve(line.slice(6)))
    })
    const doors = JSON.parse(ready) as { smtp: string; http: string }
    this.smtp = doors.smtp
    this.http = doors.http
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    const late = setTimeout(() => child.kill('SIGKILL'), 3_000)
    await gone
    clearTimeout(late)
  }
}

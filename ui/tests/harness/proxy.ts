// A small reverse proxy: puts the server under a prefix, goes silent, or changes answers on the way. Knows no page.
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export interface Answer {
  path: string
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface Rules {
  /** Where it puts the server, as `/mail/pk`. */
  prefix?: string
  /** Changes an answer that is read whole before. */
  change?: (answer: Answer) => Promise<Answer> | Answer
  /** Which answers `change` wants to see; the others pass as they come. */
  concerns?: (path: string) => boolean
  /** Whether the first host is told on, as proxies for people do. */
  keepHost?: boolean
}

export class Proxy {
  #server: Server
  #sockets = new Set<Socket>()
  #silent = false
  requests: string[] = []

  private constructor(target: () => string, rules: Rules) {
    this.#server = createServer((ask, response) => {
      const { hostname, port } = new URL(target())
      const path = ask.url ?? '/'
      this.requests.push(path)
      if (this.#silent) return
      if (rules.prefix && !path.startsWith(rules.prefix + '/')) return void response.writeHead(404).end()
      const headers = { ...ask.headers, ...(rules.keepHost ? {} : { host: `${hostname}:${port}` }) }
      if (rules.change) headers['accept-encoding'] = 'identity'
      const up = request({ hostname, port, path: path.slice(rules.prefix?.length ?? 0), method: ask.method, headers }, (answer) => void this.#pass(path, answer, response, rules))
      up.on('error', () => response.destroy())
      response.on('close', () => up.destroy())
      ask.pipe(up)
    })
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
  }

  static async start(target: () => string, rules: Rules = {}): Promise<Proxy> {
    const proxy = new Proxy(target, rules)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Nothing passes any more, and nobody is told: as when a network goes away. */
  silence(): void {
    this.#silent = true
  }

  /** As a router that comes back: what was open is dead. */
  back(): void {
    this.#silent = false
    for (const socket of this.#sockets) socket.destroy()
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #pass(path: string, answer: IncomingMessage, response: ServerResponse, rules: Rules): Promise<void> {
    const [status, headers] = [answer.statusCode ?? 502, { ...answer.headers }]
    answer.on('error', () => response.destroy())
    if (!rules.change || !rules.concerns?.(path)) {
      response.writeHead(status, headers)
      response.flushHeaders()
      answer.on('data', (piece: Buffer) => !this.#silent && response.write(piece))
      answer.on('end', () => !this.#silent && response.end())
      return
    }
    const pieces: Buffer[] = []
    for await (const piece of answer) pieces.push(piece as Buffer)
    const changed = await rules.change({ path, status, headers, body: Buffer.concat(pieces) })
    delete changed.headers['content-length']
    delete changed.headers['transfer-encoding']
    response.writeHead(changed.status, { ...changed.headers, 'content-length': changed.body.length }).end(changed.body)
  }
}

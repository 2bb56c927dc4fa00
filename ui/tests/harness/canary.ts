// A web server that nobody should ask for anything: it counts who does. Every name of `*.canary.test` leads to it.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PNG } from './mail'

export class Canary {
  readonly asked: string[] = []
  #server: Server

  private constructor() {
    this.#server = createServer((request, response) => {
      this.asked.push(`${request.method} ${request.url} (${request.headers.host})`)
      response.setHeader('access-control-allow-origin', '*')
      response.setHeader('content-type', request.url?.endsWith('.css') ? 'text/css' : request.url?.endsWith('.js') ? 'text/javascript' : 'image/png')
      response.end(request.url?.endsWith('.js') ? 'window.__pwned=(window.__pwned||0)+1' : PNG)
    })
  }

  static async start(): Promise<Canary> {
    const canary = new Canary()
    await new Promise<void>((resolve) => canary.#server.listen(0, '127.0.0.1', resolve))
    return canary
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  stop(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }
}

// The mail server that mail leaves through: takes what it is given, refuses whom a test names, and keeps the bytes.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export interface Taken {
  from: string
  to: string[]
  data: string
}

/** What a server is told so that mail leaves through this one. */
export const leaving = (relay: Relay): Record<string, string> => ({ 'relay.host': '127.0.0.1', 'relay.port': String(relay.port), 'relay.tls': 'off', 'relay.allow': '*@example.com' })

export class Relay {
  readonly taken: Taken[] = []
  #server: Server
  #refused: Record<string, string>

  /** `refused`: what is said to recipients whose address begins so. */
  private constructor(refused: Record<string, string>) {
    this.#refused = refused
    this.#server = createServer((socket) => this.#talk(socket))
  }

  static async start(refused: Record<string, string> = {}): Promise<Relay> {
    const relay = new Relay(refused)
    await new Promise<void>((resolve) => relay.#server.listen(0, '127.0.0.1', resolve))
    return relay
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  stop(): void {
    this.#server.close()
  }

  #talk(socket: Socket): void {
    let [text, mail, inData]: [string, Taken, boolean] = ['', { from: '', to: [], data: '' }, false]
    const say = (line: string) => socket.write(`${line}\r\n`)
    const answer = (line: string) => {
      const path = /<(.*)>/.exec(line)?.[1] ?? ''
      if (/^EHLO/i.test(line)) return say('250-relay.test\r\n250-8BITMIME\r\n250-PIPELINING\r\n250 SMTPUTF8')
      if (/^MAIL/i.test(line)) mail = { from: path, to: [], data: '' }
      if (/^RCPT/i.test(line)) {
        const refusal = Object.entries(this.#refused).find(([start]) => path.startsWith(start))?.[1]
        if (refusal) return say(refusal)
        mail.to.push(path)
      }
      if (/^DATA/i.test(line)) {
        if (mail.to.length === 0) return say('554 5.5.1 No valid recipients')
        inData = true
        return say('354 Go on')
      }
      if (/^QUIT/i.test(line)) return void socket.end('221 2.0.0 Bye\r\n')
      say('250 2.0.0 Ok')
    }
    socket.on('error', () => undefined)
    socket.on('data', (piece: Buffer) => {
      text += piece.toString('latin1')
      for (;;) {
        const end = text.indexOf(inData ? '\r\n.\r\n' : '\r\n')
        if (end < 0) return
        const line = text.slice(0, end)
        text = text.slice(end + (inData ? 5 : 2))
        if (inData) {
          inData = false
          this.taken.push({ ...mail, data: `${line}\r\n`.replaceAll('\r\n..', '\r\n.') })
          say(`250 2.0.0 Ok: queued as ${this.taken.length}`)
        } else answer(line)
      }
    })
    say('220 relay.test ESMTP')
  }
}

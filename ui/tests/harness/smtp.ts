// SMTP by hand: raw bytes in, the moment of each 250 out, and floods at a steady rate. Knows nothing of MIME.
import { connect, type Socket } from 'node:net'

export interface Delivery {
  from?: string
  to: string[]
  data: Buffer | string
}

/** Milliseconds since 1970, finer than Date: browsers on this machine count the same. */
export const instant = (): number => performance.timeOrigin + performance.now()

export class Smtp {
  #socket: Socket
  #text = ''
  #waiting: ((line: string) => void)[] = []
  /** Replies that came before anybody asked: the server answers several commands at once. */
  #early: string[] = []
  #failed: Error | null = null

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (data: Buffer) => this.#heard(data.toString('latin1')))
    socket.on('error', (fault) => this.#lost(fault))
    socket.on('close', () => this.#lost(new Error('the server closed the connection')))
  }

  static async open(port: number): Promise<Smtp> {
    const smtp = new Smtp(connect(port, '127.0.0.1'))
    await smtp.#reply()
    await smtp.command('EHLO client.test')
    return smtp
  }

  async command(line: string | Buffer): Promise<string> {
    this.#socket.write(Buffer.concat([Buffer.from(line), Buffer.from('\r\n')]))
    return this.#reply()
  }

  /** The instant at which the server said 250; anything else is thrown. */
  async deliver(mail: Delivery): Promise<number> {
    const lines = [`MAIL FROM:<${mail.from ?? 'sender@shop.test'}>`, ...mail.to.map((to) => `RCPT TO:<${to}>`), 'DATA']
    this.#socket.write(lines.join('\r\n') + '\r\n')
    const replies: string[] = []
    while (replies.length < lines.length) replies.push(await this.#reply())
    const refused = replies.slice(0, -1).find((reply) => !reply.startsWith('250'))
    if (!replies.at(-1)?.startsWith('354')) throw new Error(refused ?? replies.at(-1))
    const body = Buffer.isBuffer(mail.data) ? mail.data : Buffer.from(mail.data)
    this.#socket.write(Buffer.concat([stuffed(body), Buffer.from('\r\n.\r\n')]))
    const reply = await this.#reply()
    if (!reply.startsWith('250')) throw new Error(reply)
    return instant()
  }

  close(): void {
    this.#socket.removeAllListeners('close')
    this.#socket.end('QUIT\r\n')
    this.#socket.on('error', () => undefined)
  }

  #reply(): Promise<string> {
    return new Promise((resolve, reject) => {
      const early = this.#early.shift()
      if (early !== undefined) return resolve(early)
      if (this.#failed) return reject(this.#failed)
      this.#waiting.push((line) => (line ? resolve(line) : reject(this.#failed)))
    })
  }

  #heard(text: string): void {
    this.#text += text
    for (;;) {
      const end = this.#text.indexOf('\r\n')
      if (end < 0) return
      const line = this.#text.slice(0, end)
      this.#text = this.#text.slice(end + 2)
      const wake = line[3] === '-' ? undefined : this.#waiting.shift()
      if (wake) wake(line)
      else if (line[3] !== '-') this.#early.push(line)
    }
  }

  #lost(fault: Error): void {
    this.#failed ??= fault
    for (const wake of this.#waiting.splice(0)) wake('')
  }
}

/** Lines that begin with a dot get another. */
function stuffed(data: Buffer): Buffer {
  const text = data.toString('latin1')
  return Buffer.from((text.startsWith('.') ? '.' : '') + text.replaceAll('\r\n.', '\r\n..'), 'latin1')
}

/** One mail over a connection of its own. */
export async function deliver(port: number, mail: Delivery): Promise<number> {
  const smtp = await Smtp.open(port)
  try {
    return await smtp.deliver(mail)
  } finally {
    smtp.close()
  }
}

export interface Flood {
  count: number
  /** A second; 0 is as fast as it goes. */
  rate?: number
  connections?: number
  make: (number: number) => Delivery
}

/** Many mails; the instants of their 250s by number. */
export async function flood(port: number, { count, rate = 0, connections = 4, make }: Flood): Promise<number[]> {
  const said: number[] = new Array<number>(count).fill(0)
  const begin = performance.now()
  let next = 0
  const worker = async () => {
    const smtp = await Smtp.open(port)
    while (next < count) {
      const number = next++
      const early = rate ? begin + (number * 1000) / rate - performance.now() : 0
      if (early > 0) await new Promise((resolve) => setTimeout(resolve, early))
      said[number] = await smtp.deliver(make(number))
    }
    smtp.close()
  }
  await Promise.all(Array.from({ length: connections }, worker))
  return said
}

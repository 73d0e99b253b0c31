// A mail server that a test or a bench starts, stops and asks what came. It speaks just enough SMTP
// for one letter after the other.
import { createServer, type Server, type Socket } from 'node:net'

export type MailServer = Awaited<ReturnType<typeof startMailServer>>

/** The reply to a recipient; `hang up` ends the connection in the middle of the letter. */
export type Manners = (recipient: string) => Answer | Promise<Answer>
type Answer = 'yes' | 'not now' | 'hang up'

/** Accepts every email after `delayMs`; `to` lists the recipients of accepted ones. */
export async function startMailServer({
  delayMs = 0,
  manners = () => 'yes',
}: {
  delayMs?: number
  manners?: Manners
} = {}) {
  const state = { to: [] as string[], connections: 0, isMute: false }
  const sockets = new Set<Socket>()
  let server: Server | null = null
  let port = 0
  const serve = (socket: Socket) => {
    state.connections++
    // Unavailable like a balancer without servers: connections are closed without a reply.
    if (state.isMute) return void socket.destroy()
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    let [buffer, recipient, inData] = ['', '', false]
    const say = (line: string) => socket.write(`${line}\r\n`)
    socket.on('data', async (chunk) => {
      buffer += chunk.toString('latin1')
      for (;;) {
        const end = buffer.indexOf(inData ? '\r\n.\r\n' : '\r\n')
        if (end < 0) return
        const line = buffer.slice(0, end)
        buffer = buffer.slice(end + (inData ? 5 : 2))
        if (inData) {
          inData = false
          const of = recipient
          if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
          if (socket.destroyed) return
          state.to.push(of)
          say('250 taken')
        } else if (/^RCPT/i.test(line)) {
          recipient = /^RCPT TO:<([^>]+)>/i.exec(line)?.[1] ?? ''
          const word = await manners(recipient)
          if (word === 'hang up') return void socket.destroy()
          say(word === 'yes' ? '250 yes' : '450 try again later')
        } else if (/^DATA/i.test(line)) {
          inData = true
          say('354 go on')
        } else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
        else say('250 yes')
      }
    })
    say('220 here')
  }
  const start = async () => {
    server = createServer(serve)
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve))
    port = (server.address() as { port: number }).port
  }
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => (server ? server.close(resolve) : resolve(null)))
    server = null
  }
  await start()
  return {
    url: `smtp://127.0.0.1:${port}`,
    to: state.to,
    start,
    stop,
    /** Stops the server but leaves its port open: connections are counted and closed. */
    mute() {
      state.isMute = true
      for (const socket of sockets) socket.destroy()
    },
    speak() {
      state.isMute = false
    },
    get connections() {
      return state.connections
    },
  }
}

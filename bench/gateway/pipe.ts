// The floor of a process in the middle: bytes from one socket to the other, unread. What it costs a token is Node's
// and the kernel's part of every gateway in Node: one wake-up, one read, one write.
import { connect, createServer } from 'node:net'

const [port, vendorPort] = process.argv.slice(2).map(Number)

const server = createServer((client) => {
  const vendor = connect(vendorPort ?? 0, '127.0.0.1')
  client.setNoDelay(true)
  vendor.setNoDelay(true)
  client.pipe(vendor).pipe(client)
  client.on('error', () => vendor.destroy())
  vendor.on('error', () => client.destroy())
})
server.listen(port, '127.0.0.1', () => console.log('ready'))

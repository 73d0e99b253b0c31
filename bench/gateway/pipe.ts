// Lower bound of a process in the middle: copies bytes between two sockets without reading them.
// Its cost per token is the share of Node and the kernel in every gateway in Node: one wake-up, one
// read, one write.
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

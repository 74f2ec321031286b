/**
 * Preloaded into a program under test: what it asks of fdc.nal.usda.gov by HTTPS goes, without encryption, to the port of this
 * machine that TEST_FDC_PORT names. No other host is reached.
 */
import net from "node:net"
import tls from "node:tls"

tls.connect = ({ host }) => {
  if (host !== "fdc.nal.usda.gov") throw new Error(`${host} was asked`)
  const socket = net.connect(Number(process.env.TEST_FDC_PORT), "127.0.0.1")
  socket.once("connect", () => socket.emit("secureConnect"))
  return socket
}

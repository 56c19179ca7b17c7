import { SMTPServer } from 'smtp-server'

interface ReceivedMail {
  from: string
  to: string[]
  /** Whether the mail arrived over TLS. */
  secure: boolean
  headers: Map<string, string>
  text: string
  html: string
}

interface MailServerOptions {
  /** Port to listen on, for a server that replaces an earlier one. A free port when absent. */
  port?: number
  /** Offers STARTTLS with a self-signed certificate. */
  tls?: boolean
  /** Returns the status with which an address is refused, or undefined to accept it. */
  refusal?: (address: string) => number | undefined
}

/** Starts a mail server on this machine that stores the mails it receives. */
export async function openMailServer({ port = 0, tls = false, refusal }: MailServerOptions = {}) {
  const mails: ReceivedMail[] = []
  let connections = 0
  const server = new SMTPServer({
    disabledCommands: tls ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    logger: false,
    closeTimeout: 100,
    onConnect(_session, done) {
      connections++
      done()
    },
    onRcptTo({ address }, _session, done) {
      const responseCode = refusal?.(address)
      done(responseCode === undefined ? null : Object.assign(new Error('no'), { responseCode }))
    },
    async onData(stream, { envelope, secure }, done) {
      const chunks: Buffer[] = []
      for await (const chunk of stream) chunks.push(chunk)
      const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
      const to = envelope.rcptTo.map(({ address }) => address)
      mails.push({ from, to, secure, ...parseMail(Buffer.concat(chunks).toString('latin1')) })
      done()
    }
  })
  server.on('error', () => undefined)
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', () => resolve()))
  const address = server.server.address()
  if (typeof address !== 'object' || !address) throw new Error('the mail server has no port')
  return {
    mails,
    connections: () => connections,
    port: address.port,
    url: `smtp://127.0.0.1:${address.port}`,
    /**
     * Another URL of this server. Its host does not look like this machine, so the product sends
     * mails to it only over TLS.
     */
    remoteUrl: `smtp://0.0.0.0:${address.port}/`,
    async [Symbol.asyncDispose]() {
      await new Promise<void>(resolve => server.close(() => resolve()))
    }
  }
}

/** Parses headers, text and HTML of a mail in the format of nodemailer. */
export function parseMail(raw: string): Pick<ReceivedMail, 'headers' | 'text' | 'html'> {
  const [head = ''] = raw.split('\r\n\r\n', 1)
  const headers = headersOf(head)
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(headers.get('content-type') ?? '') ?? []
  const parts = raw.split(`--${boundary}`).slice(1, -1)
  const [text = '', html = ''] = parts.map(decoded)
  return { headers, text, html }
}

function headersOf(head: string): Map<string, string> {
  const lines = head
    .trim()
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  return new Map(
    lines.map(line => {
      const [name = '', value = ''] = line.split(/: (.*)/s)
      return [name.toLowerCase(), words(value)]
    })
  )
}

/** Decodes a header value: `=?UTF-8?Q?Caf=C3=A9?=` → `Café` */
function words(value: string): string {
  return value
    .replace(/\?= =\?/g, '?==?')
    .replace(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi, (_all, kind: string, text: string) =>
      kind.toUpperCase() === 'B'
        ? Buffer.from(text, 'base64').toString()
        : unquoted(text.replaceAll('_', ' '))
    )
}

function decoded(part: string): string {
  const [head = '', ...rest] = part.split('\r\n\r\n')
  const body = rest.join('\r\n\r\n')
  const encoding = headersOf(head).get('content-transfer-encoding')
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString()
  return encoding === 'quoted-printable' ? unquoted(body.replace(/=\r\n/g, '')) : body
}

function unquoted(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/gi, (_all, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16))
  )
  return Buffer.from(bytes, 'latin1').toString()
}

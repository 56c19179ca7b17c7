import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport, type SendMailOptions } from 'nodemailer'
import type { Log, MailMessage, MailSender } from '../domain/deps.ts'
import { mailHtml, mailText } from './mail-text.ts'

interface MailOptions {
  /** Without it, mails are written to the folder `outbox`. */
  smtp: { url: string; from: string } | undefined
  outbox: string
  log: Log
}

export async function openMailSender({ smtp, outbox, log }: MailOptions): Promise<MailSender> {
  if (!smtp) await mkdir(outbox, { recursive: true, mode: 0o700 })
  const sender = smtp ? viaServer(smtp) : intoFolder(outbox, log)
  // the folder may have mails from before there was a mail server
  return { ...sender, deleteOldFiles: now => deleteOldFiles(outbox, now) }
}

// how long the folder `outbox` keeps a mail
const keptMs = 30 * 86_400_000

async function deleteOldFiles(outbox: string, now: Date): Promise<void> {
  const names = await readdir(outbox).catch(() => [])
  for (const name of names) {
    const file = join(outbox, name)
    const { mtimeMs } = await stat(file)
    if (now.getTime() - mtimeMs > keptMs) await rm(file, { force: true })
  }
}

// an unreachable mail server must not delay other work
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }

// a connection stays open between mails, because connecting takes longer than sending
const pool = { pool: true, maxConnections: 4, idleTimeout: 1000, maxRequeues: 0 } as const

function viaServer({ url, from }: { url: string; from: string }): MailSender {
  const transport = createTransport({
    url,
    ...pool,
    ...timeouts,
    ...noFilesOrUrls,
    ...encryption(url)
  })
  return {
    async send(mail) {
      try {
        await transport.sendMail(messageOf(mail, from))
        return 'sent'
      } catch (error) {
        const { code = '', originalCode = '', responseCode = 0, message = '' } = Object(error)
        // the server refuses this address or mail permanently; other errors may be temporary
        const isFinal = responseCode >= 500 && ['EENVELOPE', 'EMESSAGE'].includes(code)
        if (isFinal) return 'refused'
        if (code === 'ETLS') {
          throw new Error(
            'the mail server offers no TLS, or its TLS failed: set SMTP_URL to one that offers it, or add ?ignoreTLS=true if you trust the network to it'
          )
        }
        if (/certificate/.test(message)) {
          throw new Error(
            `the certificate of the mail server was refused (${originalCode || code}): if its authority is unknown here, set NODE_EXTRA_CA_CERTS to the file of that authority`
          )
        }
        // without the server's message, which may contain names of people
        throw new Error(
          `the mail server did not accept the mail: ${code} ${responseCode || ''}`.trim()
        )
      }
    }
  }
}

// links in mails give access to accounts, so TLS is required beyond this machine unless `url` says
// otherwise
function encryption(url: string): { requireTLS?: true } {
  const { protocol, hostname, searchParams } = new URL(url)
  const isHere = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  const isSaid = protocol === 'smtps:' || searchParams.get('ignoreTLS') === 'true'
  return isHere || isSaid ? {} : { requireTLS: true }
}

function intoFolder(outbox: string, log: Log): MailSender {
  const transport = createTransport({ streamTransport: true, buffer: true, ...noFilesOrUrls })
  return {
    async send(mail) {
      const { host } = mail.from
      const from = `noreply@${host.includes('.') ? host : `${host}.localhost`}`
      const { message } = await transport.sendMail(messageOf(mail, from))
      const time = new Date().toISOString().replace(/[-:]/g, '')
      const file = join(outbox, `${time}-${mail.kind}-${randomBytes(3).toString('hex')}.eml`)
      await using part = await open(`${file}.part`, 'wx', 0o600)
      await part.writeFile(message)
      await part.sync()
      await rename(`${file}.part`, file)
      log.info({ kind: mail.kind, file }, 'mail written')
      return 'sent'
    }
  }
}

// our mails never need them
const noFilesOrUrls = { disableFileAccess: true, disableUrlAccess: true }

function messageOf(mail: MailMessage, address: string): SendMailOptions {
  const { subject, text } = mailText(mail)
  return {
    // the service and not the company, whose name is free text of its administrators
    from: { name: 'Vidimus', address },
    to: { name: '', address: mail.to },
    subject,
    text,
    html: mailHtml(mail),
    messageId: `<${mail.id}@${mail.from.host}>`,
    headers: {
      // tells mail servers not to send out-of-office replies
      'Auto-Submitted': 'auto-generated',
      'Content-Language': mail.locale
    }
  }
}

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { requestPasswordReset } from '../../../src/contract/accounts.ts'
import { openMailSender } from '../../../src/server/adapters/mail-transport.ts'
import { inCompany } from '../../../src/server/db/scope.ts'
import type { MailMessage } from '../../../src/server/domain/deps.ts'
import { queueMail, sendNextMail } from '../../../src/server/domain/mail/mail-queue.ts'
import { makeApp, type TestApp } from '../../helpers/app.ts'
import { makePerson } from '../../helpers/mailed.ts'
import { openMailServer, parseMail } from '../../helpers/servers/mail-server.ts'
import { makeTemporaryFolder } from '../../helpers/temporary-folder.ts'

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined }
const via = (url: string) =>
  openMailSender({ smtp: { url, from: 'register@acme.example' }, outbox: '', log: quiet })

const message: MailMessage = {
  id: '0190aaaa-0000-7000-8000-000000000001',
  kind: 'verify',
  to: 'ada@example.com',
  locale: 'en',
  from: {
    host: 'docs.acme.test',
    company: 'Acme <b>&"\'',
    colors: { dark: false, primary: '#114488' },
    contact: '<img src=x>'
  },
  link: 'https://docs.acme.test/en/verify-account#t=abc&email=ada%40example.com'
}

test('a mail leaves this machine over TLS only, unless the address says otherwise', async () => {
  await using plain = await openMailServer()
  await expect((await via(plain.remoteUrl)).send(message)).rejects.toThrow(/offers no TLS/)
  expect(plain.mails).toEqual([])
  await (await via(`${plain.remoteUrl}?ignoreTLS=true`)).send(message)
  await (await via(plain.url)).send(message)
  expect(plain.mails).toMatchObject([{ secure: false }, { secure: false }])

  await using encrypted = await openMailServer({ tls: true })
  await expect((await via(encrypted.remoteUrl)).send(message)).rejects.toThrow(
    /certificate .* NODE_EXTRA_CA_CERTS/
  )
  expect(encrypted.mails).toEqual([])
  const url = `${encrypted.remoteUrl}?tls.rejectUnauthorized=false`
  await (await via(url)).send(message)
  expect(encrypted.mails).toMatchObject([{ secure: true }])
})

const kinds: MailMessage['kind'][] = [
  'verify',
  'known',
  'activate',
  'reset',
  'email_confirm',
  'email_notice',
  'password_changed',
  'account_deleted'
]

test.each(kinds)(
  'writes "%s" in both languages, as text and in the company’s colors',
  async kind => {
    await using server = await openMailServer()
    const mails = await via(server.url)
    for (const locale of ['en', 'fr'] as const) await mails.send({ ...message, kind, locale })
    const [english, french] = server.mails
    expect(server.mails).toHaveLength(2)
    expect(english?.text).not.toBe(french?.text)
    for (const [at, mail] of server.mails.entries()) {
      const tag = at === 0 ? 'en' : 'fr'
      expect(mail.from).toBe('register@acme.example')
      expect(mail.to).toEqual(['ada@example.com'])
      expect(mail.headers.get('content-language')).toBe(tag)
      expect(mail.headers.get('auto-submitted')).toBe('auto-generated')
      expect(mail.headers.get('message-id')).toBe(`<${message.id}@docs.acme.test>`)
      expect(mail.headers.get('from')).toContain('Vidimus')
      expect(mail.headers.get('subject')).toContain('docs.acme.test')
      expect(mail.headers.get('subject')).not.toContain('Acme')
      expect(mail.text).toContain(message.link)
      expect(mail.text).not.toMatch(/\{\{|undefined/)
      expect(mail.html).toContain(`<html lang="${tag}`)
      expect(mail.html).toContain('background:#114488')
      // every word of a company is text, and nothing is fetched
      expect(mail.html).toContain('Acme &lt;b&gt;&amp;&quot;&#39;')
      expect(mail.html).toContain('&lt;img src=x&gt;')
      expect(mail.html).toContain('href="https://docs.acme.test/en/verify-account#t=abc&amp;email=')
      expect(mail.html).not.toMatch(
        /<(?:img|link|script|iframe|style)|url\(|@import|\ssrc=(?!x&gt;)/
      )
    }
  }
)

/** Queues a mail about a changed password. */
async function queue(
  app: TestApp,
  email = 'ada@example.com',
  host = 'acme.localhost'
): Promise<void> {
  const tenant = await app.tenants.resolve(host)
  if (!tenant) throw new Error(`no ${host}`)
  await inCompany(app.deps.db, tenant.company_id, tx =>
    queueMail(tx, app.deps, { tenant, kind: 'password_changed', email })
  )
}

const next = (app: TestApp, mails: TestApp['deps']['mails'] = app.deps.mails) => {
  const company = app.companies['acme.localhost']
  if (company === undefined) throw new Error('no acme')
  return sendNextMail({ ...app.deps, mails }, company)
}

const waiting = async (app: TestApp) =>
  (await app.owner.query('select attempts, next_at from mail')).rows

test('sends nothing of what was rolled back', async () => {
  await using app = await makeApp({ sendsMails: false })
  const tenant = await app.tenants.resolve('acme.localhost')
  if (!tenant) throw new Error('no acme')
  const failing = inCompany(app.deps.db, tenant.company_id, async tx => {
    await queueMail(tx, app.deps, { tenant, kind: 'password_changed', email: 'ada@example.com' })
    throw new Error('then something failed')
  })
  await expect(failing).rejects.toThrow('then something failed')
  expect(await next(app)).toBe(false)
  expect(app.sentMails).toEqual([])
})

test('sends what a crash left behind, once for each mail', async () => {
  await using app = await makeApp({ sendsMails: false })
  for (const email of ['ada@example.com', 'bob@example.com']) await queue(app, email)
  const outcomes = await Promise.all([next(app), next(app), next(app)])
  expect(outcomes.filter(Boolean)).toHaveLength(2)
  expect(app.sentMails.map(({ to }) => to).sort()).toEqual(['ada@example.com', 'bob@example.com'])
  expect(await waiting(app)).toEqual([])
})

test('sends again what a crash cut off, after two minutes', async () => {
  await using app = await makeApp({ sendsMails: false })
  await queue(app)
  const cut = next(app, { send: () => new Promise(() => undefined) })
  void cut
  while ((await waiting(app))[0]?.attempts !== 1) await Promise.resolve()
  expect(await next(app)).toBe(false)
  app.wait(121)
  expect(await next(app)).toBe(true)
  expect(app.sentMails).toHaveLength(1)
})

test('waits for a server that is gone, longer each time, and loses nothing', async () => {
  const server = await openMailServer()
  const mails = await via(server.url)
  await server[Symbol.asyncDispose]()
  await using app = await makeApp({ sendsMails: false })
  await queue(app)
  for (const seconds of [10, 30, 60]) {
    expect(await next(app, mails)).toBe(false)
    const [row] = await waiting(app)
    const wait = (row?.next_at.getTime() ?? 0) - app.deps.clock().getTime()
    expect(Math.round(wait / 1000)).toBeGreaterThanOrEqual(seconds - 1)
    app.wait(seconds + 1)
  }
  await using again = await openMailServer({ port: server.port })
  expect(await next(app, mails)).toBe(true)
  expect(again.mails.map(({ to }) => to)).toEqual([['ada@example.com']])
  expect(await waiting(app)).toEqual([])
  const failures = app.logged.filter(
    ({ text }) => text === 'mail could not be sent, tried again later'
  )
  expect(failures).toHaveLength(3)
  expect(JSON.stringify(app.logged)).not.toContain('ada@example.com')
})

test('tries again what is put off, and drops an address that is refused for good', async () => {
  let status = 451
  await using server = await openMailServer({
    refusal: address => (address.startsWith('ada') ? status : undefined)
  })
  const mails = await via(server.url)
  await using app = await makeApp({ sendsMails: false })
  await queue(app)
  expect(await next(app, mails)).toBe(false)
  expect(await waiting(app)).toHaveLength(1)
  status = 550
  app.wait(11)
  expect(await next(app, mails)).toBe(true)
  expect(await waiting(app)).toEqual([])
  expect(server.mails).toEqual([])
})

test('gives a mail up after three days, with an error in the log', async () => {
  await using app = await makeApp({ sendsMails: false })
  await queue(app)
  app.wait(3 * 86_400 + 1)
  const broken = { send: () => Promise.reject(new Error('gone')) }
  expect(await next(app, broken)).toBe(false)
  expect(await waiting(app)).toEqual([])
  expect(app.logged.at(-1)).toMatchObject({
    level: 'error',
    text: 'mail could not be sent in three days: deleted'
  })
})

test('lets a mail that cannot be written wait, and gives it up as well', async () => {
  await using app = await makeApp({ sendsMails: false })
  const sent: MailMessage[] = []
  const mails = {
    send(one: MailMessage) {
      sent.push(one)
      return Promise.resolve('sent' as const)
    }
  }
  await queue(app)
  await app.owner.query(`update domain set theme = '{"colors": 1}' where host = 'acme.localhost'`)
  expect(await next(app, mails)).toBe(false)
  expect(await waiting(app)).toHaveLength(1)
  expect(await next(app, mails), 'not before its time').toBe(false)
  expect(
    app.logged.filter(({ text }) => text === 'mail could not be sent, tried again later')
  ).toHaveLength(1)
  app.wait(3 * 86_400 + 1)
  expect(await next(app, mails)).toBe(false)
  expect(await waiting(app)).toEqual([])
  expect(sent).toEqual([])
})

test('speaks the person’s language, else that of the host', async () => {
  await using app = await makeApp()
  await app.owner.query(`update domain set locale = 'fr' where host = 'acme.localhost'`)
  app.deps.signals.domains.send('acme.localhost')
  const [english, unset] = [await makePerson(app), await makePerson(app)]
  await app.owner.query(`update "user" set locale = 'en' where id = $1`, [english.id])
  for (const { email } of [english, unset]) {
    await app.call('acme.localhost', requestPasswordReset, { email })
  }
  expect(await app.mailTo(english.email, 'reset')).toMatchObject({ locale: 'en' })
  const message = await app.mailTo(unset.email, 'reset')
  expect(message.locale).toBe('fr')
  expect(new URL(message.link).pathname).toBe('/fr/reset-password')
})

test('sends several mails at a time, and those of another company between them', async () => {
  const begun: string[] = []
  const ends: (() => void)[] = []
  await using app = await makeApp({
    mails: {
      async send(one) {
        begun.push(one.to)
        await new Promise<void>(resolve => ends.push(resolve))
        return 'sent'
      }
    }
  })
  for (let n = 0; n < 12; n++) await queue(app, `${n}@acme.example`)
  await queue(app, 'beta@beta.example', 'beta.localhost')
  await expect.poll(() => begun.length).toBe(4)
  // One mail ends at a time, so that the order of the next ones does not depend on which
  // transaction is faster.
  for (let ended = 0; ended < 13; ended++) {
    await expect.poll(() => begun.length).toBe(Math.min(4 + ended, 13))
    ends[ended]?.()
  }
  await app.allMailsSent()
  expect(new Set(begun).size).toBe(13)
  expect(begun).toHaveLength(13)
  expect(begun.indexOf('beta@beta.example')).toBeLessThan(6)
})

test('brings many mails over few connections', async () => {
  await using server = await openMailServer()
  const mails = await via(server.url)
  const many = Array.from({ length: 20 }, (_, n) => ({ ...message, to: `${n}@example.com` }))
  await Promise.all(many.map(each => mails.send(each)))
  expect(server.mails).toHaveLength(20)
  expect(server.connections()).toBeLessThanOrEqual(4)
})

test('names the host that was asked, whatever the Host header says', async () => {
  await using app = await makeApp()
  const { email } = await makePerson(app)
  const body = JSON.stringify({ email })
  await app.request('api.acme.localhost', {
    method: 'POST',
    path: '/user/reset/request',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-host': 'evil.example',
      origin: 'https://evil.example'
    },
    body
  })
  const { link } = await app.mailTo(email, 'reset')
  expect(new URL(link).host).toBe('acme.localhost')
})

test('writes mails to the outbox where there is no server, for 30 days, and no link to the log', async () => {
  const outbox = join(await makeTemporaryFolder(), 'outbox')
  const logged: object[] = []
  const log = { ...quiet, info: (facts: object) => logged.push(facts) }
  const mails = await openMailSender({ smtp: undefined, outbox, log })
  await mails.send(message)
  const files = await readdir(outbox)
  expect(files).toHaveLength(1)
  expect(files[0]).toMatch(/^\d{8}T\d{6}\.\d{3}Z-verify-[0-9a-f]{6}\.eml$/)
  const mail = parseMail(await readFile(join(outbox, files[0] ?? ''), 'latin1'))
  expect(mail.headers.get('from')).toContain('noreply@docs.acme.test')
  expect(mail.text).toContain(message.link)
  expect(logged).toEqual([{ kind: 'verify', file: join(outbox, files[0] ?? '') }])
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000)
  await mails.deleteOldFiles?.(inDays(29.9))
  expect(await readdir(outbox)).toEqual(files)
  await mails.deleteOldFiles?.(inDays(30.1))
  expect(await readdir(outbox)).toEqual([])
})

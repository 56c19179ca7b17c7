import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { isOpen } from '../helpers/servers/nginx.ts'
import { freePort, makeServiceProcess, type ServiceProcess } from '../helpers/service.ts'

// Runs the Caddyfile of the documentation with certificates of Caddy's own authority.

const ours = 'docs.acme.test'

let service: ServiceProcess
let proxy: { port: number; plainPort: number; ca: string; stop(): Promise<unknown> }
beforeAll(async () => {
  const port = await freePort()
  service = await makeServiceProcess({
    PUBLIC_URL: `https://${ours}:${port}`,
    TRUSTED_PROXIES: '127.0.0.1',
    DEMO: 'false'
  })
  await service.start()
  await service.query(`update domain set host = $1 where host = 'localhost'`, [ours])
  proxy = await startCaddy(port)
})
afterAll(async () => {
  await proxy?.stop()
  await service[Symbol.asyncDispose]()
})

async function startCaddy(port: number) {
  if (spawnSync('caddy', ['version'], { stdio: 'ignore' }).status !== 0) {
    throw new Error('caddy is not installed (Debian: apt-get install caddy)')
  }
  const { folder } = service
  const plainPort = await freePort(port)
  const options = [
    'local_certs',
    'skip_install_trust',
    'admin off',
    'default_bind 127.0.0.1',
    `http_port ${plainPort}`,
    `https_port ${port}`
  ]
  const child = spawn('caddy', ['run', '--config', 'docs/deploy/Caddyfile'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_DATA_HOME: folder,
      CADDY_OPTIONS: options.join('\n'),
      VIDIMUS: `127.0.0.1:${service.port}`,
      VIDIMUS_MANAGEMENT: `127.0.0.1:${service.managementPort}`
    }
  })
  let said = ''
  child.stderr.on('data', text => {
    said += text
  })
  const ended = new Promise(resolve => child.once('exit', resolve))
  while (!(await isOpen(port))) {
    if (child.exitCode !== null) throw new Error(`caddy ended: ${said}`)
  }
  const root = join(folder, 'caddy/pki/authorities/local/root.crt')
  return {
    port,
    plainPort,
    ca: readFileSync(root, 'utf8'),
    stop() {
      child.kill('SIGTERM')
      return ended
    }
  }
}

/** A request as a browser sends it, which believes no other certificate than those of the proxy. */
function ask(host: string, path: string) {
  const { port, ca } = proxy
  const headers = { host: `${host}:${port}` }
  return new Promise<{
    status: number | undefined
    headers: http.IncomingHttpHeaders
    text: string
  }>((resolve, reject) => {
    const sent = { host: '127.0.0.1', port, path, ca, servername: host, headers, agent: false }
    https
      .get(sent, answer => {
        let text = ''
        answer.on('data', part => {
          text += part
        })
        answer.on('end', () =>
          resolve({ status: answer.statusCode, headers: answer.headers, text })
        )
      })
      .on('error', reject)
  })
}

test('a served host and its API get certificates at the first visit', async () => {
  // it has a second to read the change
  const page = await vi.waitFor(() => ask(ours, '/en/verify'), 5000)
  expect([page.status, page.headers['strict-transport-security']]).toEqual([
    200,
    expect.stringContaining('max-age')
  ])
  expect(page.text).toContain('· Vidimus</title>')
  const config = await ask(`api.${ours}`, `/${ours}`)
  expect(JSON.parse(config.text)).toMatchObject({ name: 'Vidimus' })
})

test('a host of nobody gets none', async () => {
  await expect(ask('docs.nobody.test', '/en')).rejects.toThrow(/alert|reset|disconnected/)
})

test('an address without encryption leads to the one with', async () => {
  const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const sent = {
      host: '127.0.0.1',
      port: proxy.plainPort,
      path: '/en',
      headers: { host: ours }
    }
    http.get({ ...sent, agent: false }, resolve).on('error', reject)
  })
  expect(answer.statusCode).toBe(308)
  expect(answer.headers.location).toMatch(/^https:\/\/docs\.acme\.test(:\d+)?\/en$/)
})

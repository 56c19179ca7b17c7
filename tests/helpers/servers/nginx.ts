import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CachingProxy } from './shared-cache.ts'

/** Path of nginx. Debian installs it in a folder that is not on everybody's PATH. */
const binary = ['nginx', '/usr/sbin/nginx'].find(
  name => spawnSync(name, ['-v'], { stdio: 'ignore' }).status === 0
)

export const hasNginx = binary !== undefined

/** Starts nginx as a shared cache before a port of this machine. */
export function startNginx(target: number): Promise<CachingProxy> {
  return runNginx(
    15_000 + Math.floor(Math.random() * 5000),
    (folder, port) => `
       proxy_cache_path ${folder}/cache keys_zone=all:10m;
       server {
         listen 127.0.0.1:${port} default_server;
         merge_slashes off;
         location / {
           proxy_pass http://127.0.0.1:${target};
           proxy_http_version 1.1;
           proxy_set_header Host $host;
           proxy_cache all;
           proxy_cache_key "$request_method $host $request_uri";
           proxy_cache_revalidate on;
         }
       }`
  )
}

/** Starts nginx as operators do: with HTTP/2 and a certificate, which is for `localhost`. */
export function startHttp2Nginx(port: number, target: number): Promise<CachingProxy> {
  return runNginx(port, folder => {
    const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')]
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
    const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:*.localhost']
    const { status } = spawnSync('openssl', [
      'req',
      '-x509',
      '-days',
      '2',
      ...key,
      ...names,
      ...files
    ])
    if (status !== 0) throw new Error('openssl made no certificate')
    return `
       server {
         listen 127.0.0.1:${port} ssl http2 default_server;
         ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
         location / {
           proxy_pass http://127.0.0.1:${target};
           proxy_http_version 1.1;
           proxy_buffering off;
           proxy_set_header Connection "";
           proxy_set_header Host $http_host;
           proxy_set_header X-Forwarded-For $remote_addr;
         }
       }`
  })
}

/**
 * Starts nginx with the configuration of the documentation, before processes of the site and of the
 * API on these ports.
 */
export function startSiteNginx(
  port: number,
  { sites, apis }: { sites: number[]; apis: number[] }
): Promise<CachingProxy> {
  const servers = (ports: number[]) => ports.map(each => `server 127.0.0.1:${each};`).join(' ')
  const written = readFileSync(join(import.meta.dirname, '../../../docs/deploy/nginx.conf'), 'utf8')
  const config = written
    .replace('server 127.0.0.1:4321;', servers(sites))
    .replace('server 127.0.0.1:4331;', servers(apis))
    .replaceAll('listen 80', `listen 127.0.0.1:${port}`)
  return runNginx(port, () => config)
}

async function runNginx(
  port: number,
  servers: (folder: string, port: number) => string
): Promise<CachingProxy> {
  if (binary === undefined)
    throw new Error('nginx is not installed (Debian: apt-get install nginx-light)')
  const folder = mkdtempSync(join(tmpdir(), 'vidimus-nginx-'))
  chmodSync(folder, 0o755) // its workers run as another user
  for (const name of ['cache', 'temp']) mkdirSync(join(folder, name), { mode: 0o777 })
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
     events {}
     http {
       access_log off;
       client_body_temp_path ${folder}/temp/body; proxy_temp_path ${folder}/temp/proxy;
       fastcgi_temp_path ${folder}/temp/f; uwsgi_temp_path ${folder}/temp/u; scgi_temp_path ${folder}/temp/s;
       ${servers(folder, port)}
     }`
  )
  const child = spawn(binary, ['-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')])
  const kill = () => child.kill('SIGTERM')
  process.once('exit', kill)
  const ended = new Promise(resolve => child.once('exit', resolve))
  while (!(await isOpen(port))) {
    if (child.exitCode !== null) throw new Error('nginx ended')
  }
  return {
    port,
    async [Symbol.asyncDispose]() {
      process.off('exit', kill)
      kill()
      await ended
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

/** Whether something listens on a port of this machine. A `no` takes a moment. */
export function isOpen(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => setTimeout(() => resolve(false), 20))
  })
}

// Serves the pages of `npm run build:edge` with the edge runtime: `npm run start:edge`.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('dist', import.meta.url))
const config = join(dist, 'workerd.capnp')
const { PORT = '4321', HOST = '127.0.0.1', API_INTERNAL_URL = '' } = process.env
const { PUBLIC_URL = `http://localhost:${PORT}` } = process.env
const SITE_SECRET = readSecret()

if (!existsSync(config)) stop('There are no built pages for the edge: run npm run build:edge')
// an external service of this runtime is one address
const [, api] = /^http:\/\/([^/:]+(?::\d+)?)$/.exec(API_INTERNAL_URL) ?? []
if (!api) stop('API_INTERNAL_URL must be an address such as http://10.0.0.5:4321')
if (SITE_SECRET !== '' && SITE_SECRET.length < 32) {
  stop('SITE_SECRET must have at least 32 characters')
}
if (!URL.canParse(PUBLIC_URL))
  stop('PUBLIC_URL must be an address such as https://docs.example.com')

// only the build installs it
const { default: workerd } = (await import('workerd')).default
const addresses = [
  `--socket-addr=http=${HOST}:${PORT}`,
  `--external-addr=api=${api}`,
  `--directory-path=files=${join(dist, 'client')}`
]
const child = spawn(workerd, ['serve', config, ...addresses], {
  stdio: 'inherit',
  env: { ...process.env, PUBLIC_URL, SITE_SECRET }
})
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.once('error', error => stop(error.message))
child.once('exit', code => process.exit(code ?? 0))

function readSecret() {
  const { SITE_SECRET = '', SITE_SECRET_FILE: path } = process.env
  if (!path) return SITE_SECRET
  if (SITE_SECRET) stop('Give SITE_SECRET or SITE_SECRET_FILE, not both')
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return stop(`The file of SITE_SECRET_FILE cannot be read: ${path}`)
  }
}

function stop(text) {
  process.stderr.write(`${text}\n`)
  process.exit(1)
}

// Starts what `E2E_STACK` names, for the browser tests, behind nginx on PORT: with `apart`, two
// processes of the site and two of the API. Answers on MANAGEMENT_PORT once all are ready.
import { createServer } from 'node:http'
import { startSiteNginx } from '../servers/nginx.ts'
import { makeServiceProcess, type ServiceProcess } from '../service.ts'

const secret = 'a secret of the site that is long enough'
const { PORT = '', MANAGEMENT_PORT = '', DATA_DIR = '' } = process.env
const given = Object.entries(process.env).flatMap(([name, value]) =>
  /^(LIMIT_\w+|LOG_LEVEL|DEV|DNS_SERVERS|REGISTERS_ON_LOOPBACK)$/.test(name) && value
    ? [[name, value] as const]
    : []
)
const common = {
  ...Object.fromEntries(given),
  SITE_SECRET: secret,
  PUBLIC_URL: `http://localhost:${PORT}`,
  TRUSTED_PROXIES: '127.0.0.1'
}

await using owned = new AsyncDisposableStack()
const stopped = new Promise<void>(resolve => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
})
const apis = [await startApi(), await startApi()]
const sites = await Promise.all(apis.map(startSite))
owned.use(await startSiteNginx(Number(PORT), { sites: portsOf(sites), apis: portsOf(apis) }))
const ready = createServer((_request, response) => response.end())
await new Promise<void>(resolve => ready.listen(Number(MANAGEMENT_PORT), '127.0.0.1', resolve))
owned.defer(() => void ready.close())
await stopped

async function startApi(): Promise<ServiceProcess> {
  const api = owned.use(await makeServiceProcess({ ...common, ROLE: 'api', DATA_DIR }))
  await api.start()
  owned.defer(() => stop(api))
  return api
}

async function startSite({ port }: ServiceProcess): Promise<ServiceProcess> {
  const API_INTERNAL_URL = `http://127.0.0.1:${port}`
  const site = owned.use(await makeServiceProcess({ ...common, ROLE: 'web', API_INTERNAL_URL }))
  await site.start()
  owned.defer(() => stop(site))
  return site
}

async function stop(service: ServiceProcess): Promise<void> {
  await service.stop()
  process.stderr.write(service.log())
}

function portsOf(services: readonly ServiceProcess[]): number[] {
  return services.map(({ port }) => port)
}

// Starts what `E2E_STACK` names, for the browser tests, behind nginx on PORT: with `apart`, two
// processes of the site and two of the API; with `edge`, the edge runtime and one of the API. Answers
// on MANAGEMENT_PORT once all are ready.
import { createServer } from 'node:http'
import { makeEdgeProcess } from '../servers/edge.ts'
import { startSiteNginx } from '../servers/nginx.ts'
import { makeServiceProcess, type ServiceProcess } from '../service.ts'

const secret = 'a secret of the site that is long enough'
const { PORT = '', MANAGEMENT_PORT = '', DATA_DIR = '', E2E_STACK } = process.env
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
const isEdge = E2E_STACK === 'edge'
const apis = isEdge ? [await startApi()] : [await startApi(), await startApi()]
const sites = await Promise.all(apis.map(isEdge ? startEdge : startSite))
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

async function startEdge({ port }: ServiceProcess): Promise<{ port: number }> {
  const { SITE_SECRET, PUBLIC_URL } = common
  const API_INTERNAL_URL = `http://127.0.0.1:${port}`
  const edge = owned.use(await makeEdgeProcess({ SITE_SECRET, PUBLIC_URL, API_INTERNAL_URL }))
  await edge.start()
  owned.defer(() => void process.stderr.write(edge.log()))
  return edge
}

async function stop(service: ServiceProcess): Promise<void> {
  await service.stop()
  process.stderr.write(service.log())
}

function portsOf(services: readonly { port: number }[]): number[] {
  return services.map(({ port }) => port)
}

// Builds the same pages as the configuration above this folder, for an edge runtime.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import cloudflare from '@astrojs/cloudflare'
import site, { filesIn } from '../astro.config.mjs'

const dist = fileURLToPath(new URL('dist', import.meta.url))
export default {
  ...site,
  outDir: './edge/dist',
  cacheDir: './edge/node_modules/.astro',
  adapter: edge(),
  // otherwise the adapter binds a store for sessions
  session: false,
  // `edge` comes after the integration that writes `build.json`
  integrations: [...site.integrations, buildModule()],
  vite: {
    ...site.vite,
    cacheDir: fileURLToPath(new URL('node_modules/.vite', import.meta.url)),
    plugins: [...site.vite.plugins, sameClientAsNode(), withoutNode()]
  }
}

function edge() {
  const adapter = cloudflare({
    imageService: 'passthrough',
    // no page is prerendered
    prerenderEnvironment: 'node',
    configPath: 'edge/wrangler.jsonc'
  })
  const done = adapter.hooks['astro:config:done']
  // its types would be missing wherever this folder is not installed
  adapter.hooks['astro:config:done'] = options => done({ ...options, injectTypes: () => undefined })
  return adapter
}

/** The adapter changes the scripts and styles of browsers, which must be those of the Node build. */
function sameClientAsNode() {
  return {
    name: 'vidimus-same-client',
    configEnvironment: () => ({ build: { target: 'esnext', cssTarget: 'esnext' } }),
    configResolved({ environments }) {
      delete environments.client?.build.rolldownOptions.output?.banner
    }
  }
}

/** Leaves out how astro-i18next reads its configuration, which needs Node and happens at build time only. */
function withoutNode() {
  return {
    name: 'vidimus-without-node',
    enforce: 'pre',
    applyToEnvironment: ({ name }) => name !== 'client',
    // the site's own modules lie outside of the folder that has the adapter
    resolveId: id =>
      /^\/?@astrojs\/cloudflare\//.test(id)
        ? fileURLToPath(import.meta.resolve(id.replace(/^\//, '')))
        : undefined,
    load: id => (/\/@proload\//.test(id) ? 'export default undefined' : undefined),
    transform(code, id) {
      if (!/\/astro-i18next\/dist\/index\.js$/.test(id)) return undefined
      const rest = code.slice(code.indexOf('var ')).replace(/import\{[^}]*\}from"url";/, '')
      return { code: rest, map: null }
    }
  }
}

/**
 * Gives the worker the record of the build, which is known only once all is bundled, and plain
 * workerd a configuration with the modules of the build.
 */
function buildModule() {
  const name = 'vidimus:build'
  const external = {
    name: 'vidimus-build-module',
    resolveId: id => (id === name ? { id: './build.mjs', external: true } : undefined)
  }
  return {
    name: 'vidimus-build-module',
    hooks: {
      'astro:config:setup': ({ updateConfig }) => updateConfig({ vite: { plugins: [external] } }),
      'astro:build:done': async () => {
        const record = JSON.parse(await readFile(join(dist, 'build.json'), 'utf8'))
        const files = await filesIn(join(dist, 'client'))
        const own = /^(?:_headers|\.assetsignore)$/
        const paths = files.filter(path => !own.test(path)).map(path => `/${path}`)
        const module = `export default ${JSON.stringify({ ...record, files: paths })}\n`
        await writeFile(join(dist, 'server', 'build.mjs'), module)
        const modules = (await filesIn(join(dist, 'server'))).filter(path => path.endsWith('.mjs'))
        const { main, compatibility_date } = JSON.parse(
          await readFile(join(dist, 'server', 'wrangler.json'), 'utf8')
        )
        const first = [main, ...modules.filter(path => path !== main)]
        await writeFile(join(dist, 'workerd.capnp'), workerdConfig(first, compatibility_date))
      }
    }
  }
}

/** Addresses are given on the command line, and settings come from the environment. */
function workerdConfig(modules, date) {
  const rows = modules.map(path => `    (name = "${path}", esModule = embed "server/${path}")`)
  const settings = ['API_INTERNAL_URL', 'SITE_SECRET', 'PUBLIC_URL', 'CLIENT_ADDRESS_HEADER']
  return `using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "site", worker = .site),
    (name = "files", disk = ()),
    (name = "api", external = (http = ()))
  ],
  sockets = [(name = "http", http = (), service = "site")]
);

const site :Workerd.Worker = (
  modules = [
${rows.join(',\n')}
  ],
  compatibilityDate = "${date}",
  globalOutbound = "api",
  bindings = [
    (name = "ASSETS", service = "files"),
${settings.map(setting => `    (name = "${setting}", fromEnvironment = "${setting}")`).join(',\n')}
  ]
);
`
}

import { readdir, readFile } from 'node:fs/promises'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { getMimeType } from 'hono/utils/mime'
import * as z from 'zod/mini'
import { guardNames, isGuardName } from '../../core/pages/page-guards.ts'
import { astroRouteOf, type PageEntry, pages as pageTable } from '../../core/pages/page-table.ts'
import type { BuiltFile, PageLocals, Pages } from '../../site/site.ts'

export interface AstroBuild extends Pages {
  built: Date
  /** By path. */
  files: Map<string, BuiltFile>
}

const BuildRecord = z.object({
  id: z.string(),
  built: z.iso.datetime(),
  // the routes that have a page, such as `/[locale]/verify`
  routes: z.array(z.string()),
  scripts: z.object({
    ofSource: z.record(z.string(), z.string()),
    imports: z.record(z.string(), z.array(z.string()))
  }),
  messages: z.object({ en: z.record(z.string(), z.any()), fr: z.record(z.string(), z.any()) })
})

/** Throws if `table` does not list exactly the pages of the build, or names an unknown guard. */
export async function readAstroBuild(
  folder: string,
  table: Record<string, PageEntry> = pageTable
): Promise<AstroBuild> {
  const read = BuildRecord.safeParse(JSON.parse(await readRecord(folder)))
  if (!read.success) {
    throw new Error(`The pages in ${folder} were built by another version: run npm run build`)
  }
  const { routes, ...record } = read.data
  checkPages(routes, Object.values(table))
  const entry = pathToFileURL(resolve(folder, 'server', 'entry.mjs')).href
  const { handler } = (await import(entry)) as { handler: PageHandler } // as: Astro's adapter wrote it
  const files = await readFiles(join(folder, 'client'))
  return {
    ...record,
    built: new Date(record.built),
    files,
    styles: [...files.keys()].filter(path => path.endsWith('.css')),
    file(path) {
      const file = files.get(path)
      return file && Promise.resolve(file)
    },
    async render({ path, authority }, locals) {
      const request = new IncomingMessage(new Socket())
      request.method = 'GET'
      request.url = path
      request.headers = { host: authority, accept: 'text/html' }
      request.push(null)
      await handler(request, new ServerResponse(request), () => undefined, locals)
    }
  }
}

/** Calls `next` if no route matches the request. */
type PageHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next: () => void,
  locals: PageLocals
) => Promise<void>

// a page with an unknown guard would be open to everybody
function checkPages(routes: string[], table: PageEntry[]): void {
  const unknown = table
    .filter(({ guard }) => !isGuardName(guard))
    .map(({ path, guard }) => `${path} names "${guard}"`)
  if (unknown.length > 0) {
    throw new Error(`Unknown guard: ${unknown.join(', ')}. There are: ${guardNames.join(', ')}.`)
  }
  const listed = table.map(astroRouteOf)
  const faults = [
    ...routes.filter(route => !listed.includes(route)).map(route => `${route} has no row`),
    ...listed.filter(route => !routes.includes(route)).map(route => `${route} has no page`)
  ]
  if (faults.length === 0) return
  throw new Error(
    `core/pages/page-table.ts differs from the built pages: ${faults.join(', ')}. If src has both, the build is out of date: run npm run build.`
  )
}

async function readRecord(folder: string): Promise<string> {
  try {
    return await readFile(join(folder, 'build.json'), 'utf8')
  } catch (cause) {
    throw new Error(`There are no built pages in ${folder}: run npm run build`, { cause })
  }
}

async function readFiles(folder: string): Promise<Map<string, BuiltFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
  const files = await Promise.all(
    paths.map(async (path): Promise<[string, BuiltFile]> => {
      const body = await readFile(path)
      const type = getMimeType(path) ?? 'application/octet-stream'
      return [path.slice(folder.length).replaceAll('\\', '/'), { body, type }]
    })
  )
  return new Map(files)
}
